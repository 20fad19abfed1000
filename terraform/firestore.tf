# State of keys, joins and polled items.

locals {
  # Collections whose documents carry `expire_at`; `ids` are the event ids of large keys.
  expiring = toset(["ids", "sequences", "watches"])
  # Collections that sweep searches for wake-ups.
  woken = toset(["sequences", "watches"])
}

resource "google_firestore_database" "codaflow" {
  name             = local.name
  location_id      = coalesce(var.firestore.location, var.region)
  type             = "FIRESTORE_NATIVE"
  database_edition = var.firestore.edition
  # Many events of one key arrive at once: waiting for a lock beats repeating the transaction.
  concurrency_mode = "PESSIMISTIC"

  point_in_time_recovery_enablement = (
    var.firestore.point_in_time_recovery
    ? "POINT_IN_TIME_RECOVERY_ENABLED"
    : "POINT_IN_TIME_RECOVERY_DISABLED"
  )
  delete_protection_state = var.deletion_protection ? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"
  deletion_policy         = var.deletion_protection ? "ABANDON" : "DELETE"

  depends_on = [google_project_service.service]
}

# An index on a time that only grows caps a collection at 500 writes a second, and every index entry is paid for.
# Nothing is searched by a single field, so nothing is indexed by one. Enterprise indexes nothing by itself.
resource "google_firestore_field" "unindexed" {
  for_each = var.firestore.edition == "STANDARD" ? local.expiring : toset([])

  database   = google_firestore_database.codaflow.name
  collection = each.key
  field      = "*"

  index_config {}
}

# Old state goes by itself. It is never a timer: deadlines are kept in the documents.
resource "google_firestore_field" "expire_at" {
  for_each = local.expiring

  database   = google_firestore_database.codaflow.name
  collection = each.key
  field      = "expire_at"

  dynamic "index_config" {
    for_each = var.firestore.edition == "STANDARD" ? ["none"] : []
    content {}
  }
  ttl_config {}

  # Firestore changes the fields of one collection one after the other.
  depends_on = [google_firestore_field.unindexed]
}

# Wake-ups that came due. The shard spreads the growing times over many places of the index.
resource "google_firestore_index" "wake_at" {
  for_each = local.woken

  database    = google_firestore_database.codaflow.name
  collection  = each.key
  query_scope = "COLLECTION"
  api_scope   = "ANY_API"
  density     = var.firestore.edition == "ENTERPRISE" ? "SPARSE_ANY" : null

  fields {
    field_path = "shard"
    order      = "ASCENDING"
  }
  fields {
    field_path = "wake_at"
    order      = "ASCENDING"
  }

  depends_on = [google_firestore_field.expire_at]
}
