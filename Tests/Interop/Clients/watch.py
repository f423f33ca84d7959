"""Watches several values of one account, and applies them together, through lost connections. A model to copy.

    watch.py ADDRESS ACCOUNT GROUP PRODUCT        PERCH_TOKEN has the credentials, if the server asks for some

Needs the package of proto/clients/python.
"""
import json
import logging
import os
import sys

import perch
from perch import v1

address, account, group, product = sys.argv[1:]
logging.basicConfig(level=logging.INFO, format="%(message)s")  # "… lost its server, and tries again in 0.4 s: …"
with perch.connect(f"http://{address}", credentials=os.environ.get("PERCH_TOKEN")) as client:
    for states in client.watch.together({
        "status": v1.SubscriptionStatusTaskRequest(account=account, group_id=group),
        "product": v1.CurrentEntitlementTaskRequest(account=account, product_id=product),
    }):
        statuses = states["status"].value.statuses
        print(json.dumps({"states": [f"RENEWAL_STATE_{status.state.name}" for status in statuses],
                          "entitled": states["product"].value.transaction is not None}), flush=True)
