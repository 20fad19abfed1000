# Alarms. Each has the name of its page in docs/operations/, and links to it.

locals {
  channels = concat(
    tolist(var.alerts.channels),
    [for channel in google_monitoring_notification_channel.email : channel.id],
  )

  # kind: threshold (value > above for the duration), absent (no value for the duration), log (a line appears).
  alerts = {
    dead-letters = {
      title    = "Events became dead letters"
      severity = "ERROR"
      conditions = [
        {
          kind   = "threshold"
          title  = "published to the dead-letter topic"
          filter = local.filter["letters_sent"]
          align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "0s", above = 0
        },
        {
          kind   = "threshold"
          title  = "given up by Pub/Sub"
          filter = local.filter["given_up"]
          align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "0s", above = 0
        },
      ]
    }
    oldest-unacked = {
      title    = "Events or completions wait too long"
      severity = "ERROR"
      conditions = [{
        kind   = "threshold"
        title  = "oldest message not acknowledged"
        filter = local.filter["oldest_unacked"]
        align  = "ALIGN_MAX", reduce = "REDUCE_NONE", period = "60s", duration = "300s", above = var.alerts.oldest_unacked_seconds
      }]
    }
    join-lag = {
      title    = "A join is behind"
      severity = "WARNING"
      conditions = [{
        kind   = "threshold"
        title  = "distance of the cursor from now"
        filter = local.filter["join_lag"]
        align  = "ALIGN_PERCENTILE_50", reduce = "REDUCE_NONE", period = "600s", duration = "600s", above = var.alerts.join_lag_seconds
      }]
    }
    join-blocked = {
      title    = "A join cannot go on"
      severity = "CRITICAL"
      conditions = [{
        kind   = "threshold"
        title  = "an error that repeating does not cure"
        filter = local.filter["join_blocked"]
        align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "0s", above = 0
      }]
    }
    no-successful-run = {
      title    = "Scheduled work does not succeed"
      severity = "ERROR"
      conditions = [
        for metric in ["join_runs", "sweep_runs"] : {
          kind   = "absent"
          title  = "no ${metric}"
          filter = local.filter[metric]
          align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "${var.alerts.silent_schedule_seconds}s"
          group  = metric == "join_runs" ? ["metric.label.join"] : []
        }
      ]
    }
    overdue-keys = {
      title    = "Keys wait for a summary that does not come"
      severity = "ERROR"
      conditions = [
        {
          kind   = "threshold"
          title  = "woken many times without progress"
          filter = "${local.filter["sweep_stuck"]} AND metric.labels.collection=\"sequences\""
          align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "3600s", duration = "0s", above = 0
        },
        {
          kind   = "threshold"
          title  = "more wake-ups than the sweep can handle"
          filter = local.filter["sweep_unfinished"]
          align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "900s", above = 0
        },
      ]
    }
    overdue-watches = {
      title    = "Watches are overdue, or most of them fail"
      severity = "ERROR"
      conditions = [
        {
          kind   = "threshold"
          title  = "woken many times without progress"
          filter = "${local.filter["sweep_stuck"]} AND metric.labels.collection=\"watches\""
          align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "3600s", duration = "0s", above = 0
        },
        {
          kind   = "threshold"
          title  = "more wake-ups than the sweep can handle"
          filter = local.filter["sweep_unfinished_watches"]
          align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "900s", above = 0
        },
        {
          kind   = "threshold"
          title  = "events that Pub/Sub refuses"
          filter = local.filter["poll_refused"]
          align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "0s", above = 0
        },
        {
          kind        = "ratio"
          title       = "failed or timed out among all that ended"
          filter      = "${local.filter["poll_done"]} AND metric.labels.outcome=one_of(\"failed\",\"timed_out\")"
          denominator = local.filter["poll_done"]
          align       = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "3600s", duration = "0s", above = var.alerts.watch_failure_ratio
        },
      ]
    }
    summaries-refused = {
      title    = "BigQuery refuses a summary"
      severity = "CRITICAL"
      conditions = [{
        kind   = "threshold"
        title  = "refused for good"
        filter = local.filter["finish_refused"]
        align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "0s", above = 0
      }]
    }
    invalid-config = {
      title    = "A function does not start"
      severity = "CRITICAL"
      conditions = [{
        kind   = "threshold"
        title  = "its settings are wrong"
        filter = local.filter["invalid_configs"]
        align  = "ALIGN_DELTA", reduce = "REDUCE_SUM", period = "300s", duration = "0s", above = 0
      }]
    }
    error-ratio = {
      title    = "Functions answer with errors"
      severity = "ERROR"
      conditions = [{
        kind        = "ratio"
        title       = "5xx among all answers"
        filter      = local.filter["server_errors"]
        denominator = local.filter["requests"]
        align       = "ALIGN_RATE", reduce = "REDUCE_SUM", period = "300s", duration = "600s", above = var.alerts.error_ratio
      }]
    }
    queue-backlog = {
      title    = "A task queue fills up"
      severity = "WARNING"
      conditions = [{
        kind   = "threshold"
        title  = "tasks waiting"
        filter = local.filter["queue_depth"]
        align  = "ALIGN_MAX", reduce = "REDUCE_NONE", period = "60s", duration = "900s", above = var.alerts.queue_depth
      }]
    }
    reconciliation = {
      title    = "Stored events and summaries differ"
      severity = "CRITICAL"
      conditions = [{
        kind   = "log"
        title  = "the daily comparison failed"
        filter = "resource.type=\"bigquery_dts_config\" AND severity>=ERROR AND jsonPayload.message:\"keys differ\""
      }]
    }
  }
}

resource "google_monitoring_notification_channel" "email" {
  for_each = var.alerts.emails

  display_name = each.value
  type         = "email"
  labels       = { email_address = each.value }

  depends_on = [google_project_service.service]
}

resource "google_monitoring_alert_policy" "alert" {
  for_each = local.alerts

  display_name          = "${local.name}: ${each.value.title}"
  combiner              = "OR"
  severity              = each.value.severity
  notification_channels = local.channels

  dynamic "conditions" {
    for_each = each.value.conditions
    content {
      display_name = conditions.value.title

      dynamic "condition_threshold" {
        for_each = contains(["threshold", "ratio"], conditions.value.kind) ? [conditions.value] : []
        content {
          filter             = condition_threshold.value.filter
          denominator_filter = try(condition_threshold.value.denominator, null)
          comparison         = "COMPARISON_GT"
          threshold_value    = condition_threshold.value.above
          duration           = condition_threshold.value.duration

          aggregations {
            alignment_period     = condition_threshold.value.period
            per_series_aligner   = condition_threshold.value.align
            cross_series_reducer = condition_threshold.value.reduce
          }

          dynamic "denominator_aggregations" {
            for_each = condition_threshold.value.kind == "ratio" ? [condition_threshold.value] : []
            content {
              alignment_period     = denominator_aggregations.value.period
              per_series_aligner   = denominator_aggregations.value.align
              cross_series_reducer = denominator_aggregations.value.reduce
            }
          }
        }
      }

      dynamic "condition_absent" {
        for_each = conditions.value.kind == "absent" ? [conditions.value] : []
        content {
          filter   = condition_absent.value.filter
          duration = condition_absent.value.duration

          aggregations {
            alignment_period     = condition_absent.value.period
            per_series_aligner   = condition_absent.value.align
            cross_series_reducer = condition_absent.value.reduce
            group_by_fields      = condition_absent.value.group
          }
        }
      }

      dynamic "condition_matched_log" {
        for_each = conditions.value.kind == "log" ? [conditions.value] : []
        content {
          filter = condition_matched_log.value.filter
        }
      }
    }
  }

  alert_strategy {
    auto_close = "86400s"

    # Google asks for a limit where a log line is the condition.
    dynamic "notification_rate_limit" {
      for_each = anytrue([for condition in each.value.conditions : condition.kind == "log"]) ? ["3600s"] : []
      content {
        period = notification_rate_limit.value
      }
    }
  }

  documentation {
    mime_type = "text/markdown"
    content   = "What it means and what to do: ${var.alerts.runbook_url}/${each.key}.md"
  }
}
