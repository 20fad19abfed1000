resource "google_billing_budget" "month" {
  count = var.budget == null ? 0 : 1

  billing_account = var.budget.billing_account
  display_name    = "${local.name} month"

  budget_filter {
    projects = ["projects/${data.google_project.this.number}"]
  }

  amount {
    specified_amount {
      currency_code = var.budget.currency
      units         = tostring(var.budget.units)
    }
  }

  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1.0]
    content {
      threshold_percent = threshold_rules.value
    }
  }

  # Without channels the warnings go to the administrators of the billing account. A budget takes five channels.
  dynamic "all_updates_rule" {
    for_each = length(local.channels) == 0 ? [] : ["some"]
    content {
      monitoring_notification_channels = slice(local.channels, 0, min(5, length(local.channels)))
    }
  }

  depends_on = [google_project_service.service]
}
