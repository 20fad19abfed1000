# Metrics from the functions' own log lines. A line's `event` says what happened; its numbers become distributions.

locals {
  # `severity` tells the good from the bad where one event has both; `label` splits by a field of the line; `positive`
  # counts only lines with such a number. (Of a distribution of zeros nobody knows the median: its buckets begin at 1.)
  metrics = {
    dead_letters = {
      about = "Events that became dead letters, by reason"
      event = "ingest.dead_letter", severity = null, value = null, unit = "1", label = "code"
    }
    finish_retries = {
      about = "Summaries that a passing failure delayed"
      event = "finish.retry", severity = null, value = null, unit = "1", label = null
    }
    finish_refused = {
      about = "Summaries that BigQuery refused for good"
      event = "finish.refused", severity = null, value = null, unit = "1", label = null
    }
    handler_failures = {
      about = "Requests that ended in an error nobody expected"
      event = "handler_failed", severity = null, value = null, unit = "1", label = null
    }
    invalid_configs = {
      about = "Instances that did not start because of their settings"
      event = "invalid_config", severity = null, value = null, unit = "1", label = null
    }
    ingest_repeated = {
      about = "Events of a group that were known already"
      event = "ingest.group", severity = null, value = "repeated", unit = "1", label = null
    }
    ingest_retries = {
      about = "Events that a passing failure delayed"
      event = "ingest.retry", severity = null, value = null, unit = "1", label = null
    }
    ingest_stored = {
      about = "New events of a group"
      event = "ingest.group", severity = null, value = "stored", unit = "1", label = null
    }
    join_blocked = {
      about = "Runs of a join that repeating does not cure"
      event = "join.blocked", severity = null, value = null, unit = "1", label = "join"
    }
    join_bytes = {
      about = "Bytes billed by a step of a join"
      event = "join.step", severity = null, value = "bytesBilled", unit = "By", label = "join"
    }
    join_dead_letters = {
      about = "Joined rows that are too large for a message"
      event = "join.dead_letter", severity = null, value = null, unit = "1", label = "join"
    }
    join_failures = {
      about = "Runs of a join that failed; the next tick goes on"
      event = "join.failed", severity = null, value = null, unit = "1", label = "join"
    }
    join_lag = {
      about = "How far a join is behind"
      event = "join.plan", severity = null, value = "lagSeconds", unit = "s", label = "join"
    }
    join_published = {
      about = "Joined rows published by a window"
      event = "join.window", severity = null, value = "published", unit = "1", label = "join"
    }
    join_runs = {
      about = "Runs of a join that ended well"
      event = "join.done", severity = null, value = null, unit = "1", label = "join"
    }
    open_keys = {
      about = "Keys that wait for a summary"
      event = "sweep.done", severity = null, value = "sequences.open", unit = "1", label = null
    }
    open_watches = {
      about = "Watches without an outcome"
      event = "sweep.done", severity = null, value = "watches.open", unit = "1", label = null
    }
    poll_dead_letters = {
      about = "Messages that are no watch, by reason"
      event = "poll.dead_letter", severity = null, value = null, unit = "1", label = "code"
    }
    poll_done = {
      about = "Watches that ended, by outcome"
      event = "poll.done", severity = null, value = null, unit = "1", label = "outcome"
    }
    poll_refused = {
      about = "Events of watches that Pub/Sub does not take"
      event = "poll.refused", severity = null, value = null, unit = "1", label = null
    }
    poll_retries = {
      about = "Looks at watches that failed and are repeated"
      event = "poll.retry", severity = null, value = null, unit = "1", label = null
    }
    sweep_runs = {
      about = "Sweeps that ended well"
      event = "sweep.done", severity = "INFO", value = null, unit = "1", label = null
    }
    sweep_stuck = {
      about = "Wake-ups of keys and watches that make no progress"
      event = "sweep.stuck", severity = null, value = null, unit = "1", label = "collection"
    }
    sweep_unfinished = {
      about = "Sweeps whose time was over before all overdue keys were woken"
      event = "sweep.done", severity = null, value = null, unit = "1", label = null, positive = "sequences.unfinished"
    }
    sweep_woken = {
      about = "Keys woken by a sweep"
      event = "sweep.done", severity = null, value = "sequences.woken", unit = "1", label = null
    }
    sweep_unfinished_watches = {
      about = "Sweeps whose time was over before all overdue watches were woken"
      event = "sweep.done", severity = null, value = null, unit = "1", label = null, positive = "watches.unfinished"
    }
    sweep_woken_watches = {
      about = "Watches woken by a sweep, whose task was lost or late"
      event = "sweep.done", severity = null, value = "watches.woken", unit = "1", label = null
    }
  }
}

resource "google_logging_metric" "metric" {
  for_each = local.metrics

  name        = "${local.name}/${each.key}"
  description = each.value.about
  filter = join(" AND ", compact([
    "resource.type=\"cloud_run_revision\"",
    "resource.labels.service_name=~\"^${local.name}-[a-z]+$\"",
    "jsonPayload.event=\"${each.value.event}\"",
    each.value.severity == null ? "" : "severity=${each.value.severity}",
    try("jsonPayload.${each.value.positive}>0", ""),
  ]))
  value_extractor  = each.value.value == null ? null : "EXTRACT(jsonPayload.${each.value.value})"
  label_extractors = each.value.label == null ? {} : { (each.value.label) = "EXTRACT(jsonPayload.${each.value.label})" }

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = each.value.value == null ? "INT64" : "DISTRIBUTION"
    unit        = each.value.unit

    dynamic "labels" {
      for_each = each.value.label == null ? [] : [each.value.label]
      content {
        key        = labels.value
        value_type = "STRING"
      }
    }
  }

  dynamic "bucket_options" {
    for_each = each.value.value == null ? [] : [each.value.value]
    content {
      exponential_buckets {
        num_finite_buckets = 48
        growth_factor      = 1.5
        scale              = 1
      }
    }
  }

  depends_on = [google_project_service.service]
}

# Filters of everything that alarms and the dashboard look at: the metrics above, and Google's own.

locals {
  _functions     = "resource.type=\"cloud_run_revision\" AND resource.labels.service_name=starts_with(\"${local.name}-\")"
  _pushes        = "resource.type=\"pubsub_subscription\" AND resource.labels.subscription_id=one_of(${local._push_names})"
  _push_names    = join(",", [for topic, function in local.pushes : "\"${local.topic_prefix}${topic}-${function}\""])
  _subscriptions = "resource.type=\"pubsub_subscription\" AND resource.labels.subscription_id=one_of(${local._push_names},\"${local.topic_prefix}dead-letters-bigquery\")"
  _queues        = "resource.type=\"cloud_tasks_queue\" AND resource.labels.queue_id=starts_with(\"${local.name}-\")"
  _topics        = join(",", [for topic in ["completions", "events", "summaries"] : "\"${local.topic_prefix}${topic}\""])

  # Names of the metrics in PromQL, which alone can add up what a distribution holds.
  promql = {
    for key, metric in google_logging_metric.metric :
    key => "logging_googleapis_com:user_${replace(metric.name, "/[^a-z]/", "_")}%s{monitored_resource=\"cloud_run_revision\"}"
  }

  filter = merge(
    {
      for key, metric in google_logging_metric.metric :
      key => "resource.type=\"cloud_run_revision\" AND metric.type=\"logging.googleapis.com/user/${metric.name}\""
    },
    {
      bytes_billed   = "resource.type=\"global\" AND metric.type=\"bigquery.googleapis.com/query/scanned_bytes_billed\""
      deliveries     = "${local._pushes} AND metric.type=\"pubsub.googleapis.com/subscription/push_request_count\""
      given_up       = "${local._pushes} AND metric.type=\"pubsub.googleapis.com/subscription/dead_letter_message_count\""
      instances      = "${local._functions} AND metric.type=\"run.googleapis.com/container/instance_count\""
      latencies      = "${local._functions} AND metric.type=\"run.googleapis.com/request_latencies\""
      letters_sent   = "resource.type=\"pubsub_topic\" AND resource.labels.topic_id=\"${local.topic_prefix}dead-letters\" AND metric.type=\"pubsub.googleapis.com/topic/send_request_count\""
      oldest_unacked = "${local._subscriptions} AND metric.type=\"pubsub.googleapis.com/subscription/oldest_unacked_message_age\""
      published      = "resource.type=\"pubsub_topic\" AND resource.labels.topic_id=one_of(${local._topics}) AND metric.type=\"pubsub.googleapis.com/topic/send_request_count\""
      queue_depth    = "${local._queues} AND metric.type=\"cloudtasks.googleapis.com/queue/depth\""
      looks          = "${local._queues} AND metric.type=\"cloudtasks.googleapis.com/queue/task_attempt_count\""
      requests       = "${local._functions} AND metric.type=\"run.googleapis.com/request_count\""
      server_errors  = "${local._functions} AND metric.type=\"run.googleapis.com/request_count\" AND metric.labels.response_code_class=\"5xx\""
      waiting        = "${local._pushes} AND metric.type=\"pubsub.googleapis.com/subscription/num_undelivered_messages\""
    },
  )
}
