# One page that shows whether all is well.

locals {
  charts = [
    {
      title = "Events by outcome (a minute)"
      promql = [
        "label_replace(sum(increase(${format(local.promql["ingest_stored"], "_sum")}[1m])), \"outcome\", \"stored\", \"\", \"\")",
        "label_replace(sum(increase(${format(local.promql["ingest_repeated"], "_sum")}[1m])), \"outcome\", \"repeated\", \"\", \"\")",
        "label_replace(sum(increase(${format(local.promql["dead_letters"], "")}[1m])), \"outcome\", \"dead letter\", \"\", \"\")",
        "label_replace(sum(increase(${format(local.promql["ingest_retries"], "")}[1m])), \"outcome\", \"delayed\", \"\", \"\")",
      ]
    },
    {
      title  = "Keys that wait for a summary"
      promql = ["sum(increase(${format(local.promql["open_keys"], "_sum")}[5m])) / sum(increase(${format(local.promql["open_keys"], "_count")}[5m]))"]
    },
    {
      title  = "Watches without an outcome"
      promql = ["sum(increase(${format(local.promql["open_watches"], "_sum")}[5m])) / sum(increase(${format(local.promql["open_watches"], "_count")}[5m]))"]
    },
    {
      title  = "Publish requests (a second)"
      filter = local.filter["published"]
      align  = "ALIGN_RATE", reduce = "REDUCE_SUM", group = ["resource.label.topic_id"]
    },
    {
      title  = "Deliveries by answer (a second)"
      filter = local.filter["deliveries"]
      align  = "ALIGN_RATE", reduce = "REDUCE_SUM", group = ["resource.label.subscription_id", "metric.label.response_class"]
    },
    {
      title  = "Messages waiting"
      filter = local.filter["waiting"]
      align  = "ALIGN_MAX", reduce = "REDUCE_MAX", group = ["resource.label.subscription_id"]
    },
    {
      title  = "Oldest message not acknowledged (s)"
      filter = local.filter["oldest_unacked"]
      align  = "ALIGN_MAX", reduce = "REDUCE_MAX", group = ["resource.label.subscription_id"]
    },
    {
      title  = "Dead letters (publishes a minute)"
      filter = local.filter["letters_sent"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Lag of the joins (s)"
      filter = local.filter["join_lag"]
      align  = "ALIGN_PERCENTILE_50", reduce = "REDUCE_MAX", group = ["metric.label.join"]
    },
    {
      title  = "Runs of the joins"
      filter = local.filter["join_runs"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.join"]
    },
    {
      title  = "Failed runs of the joins"
      filter = local.filter["join_failures"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.join"]
    },
    {
      title  = "Joined rows published (a minute)"
      promql = ["sum by (join) (increase(${format(local.promql["join_published"], "_sum")}[1m]))"]
    },
    {
      title  = "Dead letters by reason"
      promql = [for metric in ["dead_letters", "poll_dead_letters"] : "sum by (code) (increase(${format(local.promql[metric], "")}[5m]))"]
    },
    {
      title  = "Summaries delayed by a failure"
      filter = local.filter["finish_retries"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Keys woken by a sweep (a minute)"
      promql = ["sum(increase(${format(local.promql["sweep_woken"], "_sum")}[1m]))"]
    },
    {
      title  = "Watches that ended, by outcome"
      filter = local.filter["poll_done"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.outcome"]
    },
    {
      # A look that ends nothing arms the next one.
      title  = "Looks at watches and writes by tasks, by answer (a second)"
      filter = local.filter["looks"]
      align  = "ALIGN_RATE", reduce = "REDUCE_SUM", group = ["resource.label.queue_id", "metric.label.response_code"]
    },
    {
      title  = "Looks at watches that failed"
      filter = local.filter["poll_retries"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Watches woken by a sweep (a minute)"
      promql = ["sum(increase(${format(local.promql["sweep_woken_watches"], "_sum")}[1m]))"]
    },
    {
      title  = "Keys and watches without progress"
      filter = local.filter["sweep_stuck"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.collection"]
    },
    {
      title  = "Bytes billed by a step of a join"
      filter = local.filter["join_bytes"]
      align  = "ALIGN_PERCENTILE_99", reduce = "REDUCE_MAX", group = ["metric.label.join"]
    },
    {
      title  = "Joined rows too large for a message"
      filter = local.filter["join_dead_letters"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.join"]
    },
    {
      title  = "Unexpected failures of requests"
      filter = local.filter["handler_failures"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Tasks waiting"
      filter = local.filter["queue_depth"]
      align  = "ALIGN_MAX", reduce = "REDUCE_MAX", group = ["resource.label.queue_id"]
    },
    {
      title  = "Bytes billed by queries"
      filter = local.filter["bytes_billed"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Requests by answer (a second)"
      filter = local.filter["requests"]
      align  = "ALIGN_RATE", reduce = "REDUCE_SUM", group = ["resource.label.service_name", "metric.label.response_code_class"]
    },
    {
      title  = "Latency, 95th percentile (ms)"
      filter = local.filter["latencies"]
      align  = "ALIGN_PERCENTILE_95", reduce = "REDUCE_MAX", group = ["resource.label.service_name"]
    },
    {
      title  = "Instances"
      filter = local.filter["instances"]
      align  = "ALIGN_MAX", reduce = "REDUCE_SUM", group = ["resource.label.service_name"]
    },
  ]
}

resource "google_monitoring_dashboard" "codaflow" {
  dashboard_json = jsonencode({
    displayName = local.name
    mosaicLayout = {
      columns = 12
      tiles = [
        for i, chart in local.charts : {
          xPos   = i % 3 * 4
          yPos   = floor(i / 3) * 4
          width  = 4
          height = 4
          widget = {
            title = chart.title
            xyChart = {
              dataSets = [
                for query in try(chart.promql, [null]) : {
                  plotType = "LINE"
                  timeSeriesQuery = { for kind, value in {
                    prometheusQuery = query
                    timeSeriesFilter = query != null ? null : {
                      filter = chart.filter
                      aggregation = {
                        alignmentPeriod    = "60s"
                        perSeriesAligner   = chart.align
                        crossSeriesReducer = chart.reduce
                        groupByFields      = chart.group
                      }
                    }
                  } : kind => value if value != null }
                }
              ]
            }
          }
        }
      ]
    }
  })
}
