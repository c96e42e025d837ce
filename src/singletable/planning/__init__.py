"""What a design costs on AWS: prices by region, and bills.

prices.py      prices with their source and date, by region; the table in the package, tables in files
price_list.py  AWS's price list, as its files and its API have it, read as such a table
billing.py     bills of a month: on demand, provisioned, reserved
break_even.py  where one way to pay begins to cost less than another, in words
"""
