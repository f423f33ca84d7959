"""What the contract determines.

Generated from proto/ by `make proto`. Do not edit: change the contract or proto/generator/python.py.
"""
