"""The operations: each decides purely what is to be done, and one storage transaction does it.

It takes typed requests and gives typed results; it knows neither JSON nor HTTP, and writes no SQL.
"""
