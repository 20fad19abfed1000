# One archive for all functions: the bundle, the joins, and a package.json with only what runs.

locals {
  root = "${path.module}/.."

  source_files = merge(
    {
      for path in setunion(fileset(local.root, "dist/**"), fileset(local.root, "joins/*/*.sql")) :
      path => file("${local.root}/${path}")
    },
    # A join names its topic without the prefix.
    {
      for name, join in local.joins :
      "joins/${name}/join.json" => jsonencode(merge(join, { topic = "${local.topic_prefix}${join.topic}" }))
    },
    {
      # No development dependencies: the platform installs, compiles ahead what starts an instance sooner, and starts.
      "package.json" = jsonencode(merge(
        {
          for name, value in jsondecode(file("${local.root}/package.json")) : name => value
          if contains(["name", "version", "private", "type", "main", "engines", "dependencies"], name)
        },
        { scripts = { "gcp-build" = join(" ", concat([for name, value in local.node : "${name}=${value}"], ["node dist/compile-cache.js"])) } },
      ))
      "package-lock.json" = file("${local.root}/package-lock.json")
    },
  )
}

data "archive_file" "source" {
  type        = "zip"
  output_path = "${path.module}/.terraform/source.zip"

  dynamic "source" {
    for_each = local.source_files
    content {
      filename = source.key
      content  = source.value
    }
  }
}

resource "google_storage_bucket" "source" {
  name     = "${var.project_id}-${local.name}-source"
  location = var.region

  force_destroy               = true
  public_access_prevention    = "enforced"
  uniform_bucket_level_access = true

  # A deployed function no longer needs its archive; a rollback within this time does.
  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      age        = 90
      with_state = "ARCHIVED"
    }
  }
  versioning {
    enabled = true
  }

  depends_on = [google_project_service.service]
}

resource "google_storage_bucket_object" "source" {
  # The content is in the name: a change of the code, and nothing else, deploys.
  name   = "source-${data.archive_file.source.output_sha256}.zip"
  bucket = google_storage_bucket.source.name
  source = data.archive_file.source.output_path

  lifecycle {
    precondition {
      condition     = contains(keys(local.source_files), "dist/index.js")
      error_message = "dist/index.js is missing: run `npm ci && npm run build` first."
    }
  }
}

resource "google_artifact_registry_repository" "images" {
  repository_id = local.name
  location      = var.region
  format        = "DOCKER"
  description   = "Images of the functions"

  cleanup_policies {
    id     = "keep-recent"
    action = "KEEP"
    most_recent_versions {
      keep_count = 5
    }
  }
  cleanup_policies {
    id     = "delete-old"
    action = "DELETE"
    condition {
      older_than = "2592000s"
    }
  }

  depends_on = [google_project_service.service]
}
