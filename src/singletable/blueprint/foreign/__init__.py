"""Files of others that hold a part of a design: NoSQL Workbench, CloudFormation, Terraform.

workbench.py       models of NoSQL Workbench, in and out, over facets.py, revealed.py (templates that rows
                   show) and items.py (DynamoDB's JSON and plain JSON)
cloudformation.py  templates of CloudFormation and SAM, over functions.py and yaml_text.py
terraform.py       configurations, states and plans of Terraform, over hcl_text.py
infrastructure.py  what the last two share
nodes.py           a value of such a file, which says where it stands when it is wrong
"""
