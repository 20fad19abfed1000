# One page that shows whether all is well.

locals {
  charts = [
    {
      title  = "Publish requests (a second)"
      filter = "resource.type=\"pubsub_topic\" AND resource.labels.topic_id=one_of(\"${local.topic_prefix}events\",\"${local.topic_prefix}completions\",\"${local.topic_prefix}summaries\") AND metric.type=\"pubsub.googleapis.com/topic/send_request_count\""
      align  = "ALIGN_RATE", reduce = "REDUCE_SUM", group = ["resource.label.topic_id"]
    },
    {
      title  = "Deliveries by answer (a second)"
      filter = "resource.type=\"pubsub_subscription\" AND resource.labels.subscription_id=one_of(${local.subscription_ids}) AND metric.type=\"pubsub.googleapis.com/subscription/push_request_count\""
      align  = "ALIGN_RATE", reduce = "REDUCE_SUM", group = ["resource.label.subscription_id", "metric.label.response_class"]
    },
    {
      title  = "Messages waiting"
      filter = "resource.type=\"pubsub_subscription\" AND resource.labels.subscription_id=one_of(${local.subscription_ids}) AND metric.type=\"pubsub.googleapis.com/subscription/num_undelivered_messages\""
      align  = "ALIGN_MAX", reduce = "REDUCE_MAX", group = ["resource.label.subscription_id"]
    },
    {
      title  = "Oldest message not acknowledged (s)"
      filter = "resource.type=\"pubsub_subscription\" AND resource.labels.subscription_id=one_of(${local.subscription_ids},\"${local.topic_prefix}dead-letters-bigquery\") AND metric.type=\"pubsub.googleapis.com/subscription/oldest_unacked_message_age\""
      align  = "ALIGN_MAX", reduce = "REDUCE_MAX", group = ["resource.label.subscription_id"]
    },
    {
      title  = "Dead letters (publishes a minute)"
      filter = "resource.type=\"pubsub_topic\" AND resource.labels.topic_id=\"${local.topic_prefix}dead-letters\" AND metric.type=\"pubsub.googleapis.com/topic/send_request_count\""
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Lag of the joins (s)"
      filter = local.log_metric["join_lag"]
      align  = "ALIGN_PERCENTILE_50", reduce = "REDUCE_MAX", group = ["metric.label.join"]
    },
    {
      title  = "Runs of the joins"
      filter = local.log_metric["join_runs"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.join"]
    },
    {
      title  = "Failed runs of the joins"
      filter = local.log_metric["join_failures"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.join"]
    },
    {
      title  = "Joined rows published by a window"
      filter = local.log_metric["join_published"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.join"]
    },
    {
      title  = "Dead letters by reason"
      filter = local.log_metric["dead_letters"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.code"]
    },
    {
      title  = "Events delayed by a failure"
      filter = local.log_metric["ingest_retries"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Summaries delayed by a failure"
      filter = local.log_metric["finish_retries"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Keys woken by a sweep"
      filter = local.log_metric["sweep_woken"]
      align  = "ALIGN_PERCENTILE_50", reduce = "REDUCE_MAX", group = []
    },
    {
      title  = "Keys without progress"
      filter = local.log_metric["sweep_stuck"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.collection"]
    },
    {
      title  = "Bytes billed by a step of a join"
      filter = local.log_metric["join_bytes"]
      align  = "ALIGN_PERCENTILE_99", reduce = "REDUCE_MAX", group = ["metric.label.join"]
    },
    {
      title  = "Joined rows too large for a message"
      filter = local.log_metric["join_dead_letters"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = ["metric.label.join"]
    },
    {
      title  = "Unexpected failures of requests"
      filter = local.log_metric["handler_failures"]
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Tasks waiting"
      filter = "resource.type=\"cloud_tasks_queue\" AND resource.labels.queue_id=starts_with(\"${local.name}-\") AND metric.type=\"cloudtasks.googleapis.com/queue/depth\""
      align  = "ALIGN_MAX", reduce = "REDUCE_MAX", group = ["resource.label.queue_id"]
    },
    {
      title  = "Bytes billed by queries"
      filter = "resource.type=\"global\" AND metric.type=\"bigquery.googleapis.com/query/scanned_bytes_billed\""
      align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", group = []
    },
    {
      title  = "Requests by answer (a second)"
      filter = "${local.our_services} AND metric.type=\"run.googleapis.com/request_count\""
      align  = "ALIGN_RATE", reduce = "REDUCE_SUM", group = ["resource.label.service_name", "metric.label.response_code_class"]
    },
    {
      title  = "Latency, 95th percentile (ms)"
      filter = "${local.our_services} AND metric.type=\"run.googleapis.com/request_latencies\""
      align  = "ALIGN_PERCENTILE_95", reduce = "REDUCE_MAX", group = ["resource.label.service_name"]
    },
    {
      title  = "Instances"
      filter = "${local.our_services} AND metric.type=\"run.googleapis.com/container/instance_count\""
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
              dataSets = [{
                plotType = "LINE"
                timeSeriesQuery = {
                  timeSeriesFilter = {
                    filter = chart.filter
                    aggregation = {
                      alignmentPeriod    = "60s"
                      perSeriesAligner   = chart.align
                      crossSeriesReducer = chart.reduce
                      groupByFields      = chart.group
                    }
                  }
                }
              }]
            }
          }
        }
      ]
    }
  })
}
