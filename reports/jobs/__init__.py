"""The jobs of the pipeline: functions from rows of a lake to rows, in this process or on Spark."""
