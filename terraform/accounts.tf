# Identities: one for each function, one for each kind of caller, one for building. None has a key.

locals {
  accounts = merge(
    { for name, f in local.functions : name => "Runs the function ${name}" },
    {
      build     = "Builds the functions"
      push      = "Pub/Sub calls ingest and finish as this"
      reconcile = "Runs the daily comparison of events and summaries"
      scheduler = "Cloud Scheduler calls join and sweep as this"
      tasks     = "Cloud Tasks calls poll and submit as this"
    },
  )
}

resource "google_service_account" "account" {
  for_each = local.accounts

  account_id   = "${local.name}-${each.key}"
  display_name = each.value

  depends_on = [google_project_service.service]
}
