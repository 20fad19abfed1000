/**
 * What calls need, and what roles give: the tables that the audit of the grants rests on, from Google's reference.
 */

/** Where each API's reference says which permission a method needs. */
export const SOURCES = {
  artifactregistry: 'https://docs.cloud.google.com/artifact-registry/docs/access-control',
  bigquery: 'https://docs.cloud.google.com/bigquery/docs/access-control',
  bigquerystorage: 'https://docs.cloud.google.com/bigquery/docs/write-api-grpc',
  cloudtasks: 'https://docs.cloud.google.com/tasks/docs/reference-access-control',
  firestore: 'https://docs.cloud.google.com/firestore/docs/security/iam',
  iamcredentials: 'https://docs.cloud.google.com/iam/docs/service-account-permissions',
  logging: 'https://docs.cloud.google.com/logging/docs/access-control',
  pubsub: 'https://docs.cloud.google.com/pubsub/docs/access-control',
  run: 'https://docs.cloud.google.com/run/docs/reference/iam/permissions',
  secretmanager: 'https://docs.cloud.google.com/secret-manager/docs/access-control',
  storage: 'https://docs.cloud.google.com/storage/docs/access-control/iam-json',
} as const;

/** Whoever creates a job may get and cancel it: https://docs.cloud.google.com/bigquery/docs/jobs-overview */
export const OWN_JOB = 'own job';

/**
 * Method -> permissions. Of `bigquery`, `read` and `write` are what a statement does with a table.
 *
 * Reading a document may begin a transaction, which Rollback ends after a failure. Google names `updateData` alone for
 * AppendRows; `tables.get`, which shows no row, is there because a client may ask for its stream.
 */
export const METHODS: Readonly<Record<string, readonly string[]>> = {
  'artifactregistry.Upload': ['artifactregistry.repositories.uploadArtifacts'],
  'bigquery.jobs.cancel': ['bigquery.jobs.update'],
  'bigquery.jobs.get': ['bigquery.jobs.get'],
  'bigquery.jobs.getQueryResults': ['bigquery.jobs.get'],
  'bigquery.jobs.insert': ['bigquery.jobs.create'],
  'bigquery.jobs.query': ['bigquery.jobs.create'],
  'bigquery.read': ['bigquery.tables.getData'],
  'bigquery.tables.get': ['bigquery.tables.get'],
  'bigquery.write': ['bigquery.tables.updateData'],
  'bigquerystorage.AppendRows': ['bigquery.tables.get', 'bigquery.tables.updateData'],
  'cloudtasks.CreateTask': ['cloudtasks.tasks.create'],
  'firestore.BatchGetDocuments': ['datastore.databases.get', 'datastore.entities.get'],
  'firestore.Commit': ['datastore.entities.create', 'datastore.entities.update', 'datastore.entities.delete'],
  'firestore.RunAggregationQuery': ['datastore.entities.get', 'datastore.entities.list'],
  'firestore.RunQuery': ['datastore.entities.get', 'datastore.entities.list'],
  'iamcredentials.GenerateIdToken': ['iam.serviceAccounts.getOpenIdToken'],
  'logging.WriteLogEntries': ['logging.logEntries.create'],
  'pubsub.Acknowledge': ['pubsub.subscriptions.consume'],
  'pubsub.Publish': ['pubsub.topics.publish'],
  'run.Invoke': ['run.routes.invoke'],
  'secretmanager.AccessSecretVersion': ['secretmanager.versions.access'],
  'storage.objects.get': ['storage.objects.get'],
};

/**
 * Role -> those of its permissions that are used here, from
 * https://docs.cloud.google.com/iam/docs/roles-permissions
 */
export const ROLES: Readonly<Record<string, readonly string[]>> = {
  'roles/artifactregistry.writer': ['artifactregistry.repositories.uploadArtifacts'],
  'roles/bigquery.dataEditor': ['bigquery.tables.get', 'bigquery.tables.getData', 'bigquery.tables.updateData'],
  'roles/bigquery.dataViewer': ['bigquery.tables.get', 'bigquery.tables.getData'],
  'roles/bigquery.jobUser': ['bigquery.jobs.create'],
  'roles/cloudtasks.enqueuer': ['cloudtasks.tasks.create'],
  'roles/datastore.user': [
    'datastore.databases.get',
    'datastore.entities.create',
    'datastore.entities.delete',
    'datastore.entities.get',
    'datastore.entities.list',
    'datastore.entities.update',
  ],
  'roles/iam.serviceAccountOpenIdTokenCreator': ['iam.serviceAccounts.getOpenIdToken'],
  'roles/logging.logWriter': ['logging.logEntries.create'],
  'roles/pubsub.publisher': ['pubsub.topics.publish'],
  'roles/pubsub.subscriber': ['pubsub.subscriptions.consume'],
  'roles/run.invoker': ['run.routes.invoke'],
  'roles/secretmanager.secretAccessor': ['secretmanager.versions.access'],
  'roles/storage.objectViewer': ['storage.objects.get'],
};
