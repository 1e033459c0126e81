"""What people see: figures and pages over the store."""

PTO_TUNE_ROOM = "dashboards"
