import { findResults } from '@berth/kube-jsonpath/find-results';
import { formatJsonPathValue } from '@berth/kube-jsonpath/format-value';
import { parseJsonPath } from '@berth/kube-jsonpath/parse-template';
import { groupResource } from '@berth/kube/model/kinds';
import { type JsonObject, type JsonValue, objectAt } from '../json/json-value.ts';
import type { ResourceRef, ResourceVersion, PrinterColumn } from '../schema/resource-definition.ts';
import { type Column, AGE_COLUMN, NAME_COLUMN, ageText } from './columns/column.ts';
import * as core from './columns/core-columns.ts';
import * as other from './columns/other-columns.ts';
import * as workload from './columns/workload-columns.ts';

const DEFAULT_COLUMNS: readonly Column[] = [NAME_COLUMN, AGE_COLUMN];

const API_VERSION = 'meta.k8s.io/v1';

export interface TableOptions {
  readonly listMeta: JsonObject;
  /** What a row contains besides its cells. */
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  /** Milliseconds since the epoch; ages count from it. */
  readonly now: number;
  /** A watch sends the columns only once. */
  readonly withColumns: boolean;
}

const columnsByVersion = new WeakMap<ResourceVersion, readonly Column[]>();

function columnsOf(ref: ResourceRef): readonly Column[] {
  const known = columnsByVersion.get(ref.version);
  if (known !== undefined) return known;
  const { builtIn, group, plural } = ref.definition;
  const columns = builtIn ? builtinColumns(group, plural) : customColumns(ref.version.printerColumns);
  columnsByVersion.set(ref.version, columns);
  return columns;
}

/** meta.k8s.io/v1 Table of objects of one resource. */
export function renderTable(
  ref: ResourceRef,
  items: readonly JsonObject[],
  options: TableOptions,
): JsonObject {
  const columns = columnsOf(ref);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.listMeta,
    columnDefinitions: options.withColumns ? columns.map(definitionJson) : null,
    rows: items.map((object) => ({
      cells: columns.map((column) => column.cell(object, options.now)),
      object: rowObject(object, options.includeObject),
    })),
  };
}

function definitionJson({ name, type, format, description, priority }: Column): JsonObject {
  return { name, type, format, description, priority };
}

function rowObject(object: JsonObject, include: TableOptions['includeObject']): JsonValue {
  if (include === 'None') return null;
  return include === 'Object' ? object : partialMetadata(object);
}

/** The printer columns of built-in kinds, by `plural.group`. */
const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  pods: core.POD_COLUMNS,
  services: core.SERVICE_COLUMNS,
  nodes: core.NODE_COLUMNS,
  events: core.EVENT_COLUMNS,
  'events.events.k8s.io': core.NEW_EVENT_COLUMNS,
  namespaces: core.NAMESPACE_COLUMNS,
  configmaps: core.CONFIG_MAP_COLUMNS,
  secrets: core.SECRET_COLUMNS,
  serviceaccounts: core.SERVICE_ACCOUNT_COLUMNS,
  persistentvolumeclaims: core.CLAIM_COLUMNS,
  persistentvolumes: core.VOLUME_COLUMNS,
  endpoints: core.ENDPOINTS_COLUMNS,
  replicationcontrollers: core.REPLICATION_CONTROLLER_COLUMNS,
  'deployments.apps': workload.DEPLOYMENT_COLUMNS,
  'replicasets.apps': workload.REPLICA_SET_COLUMNS,
  'statefulsets.apps': workload.STATEFUL_SET_COLUMNS,
  'daemonsets.apps': workload.DAEMON_SET_COLUMNS,
  'jobs.batch': workload.JOB_COLUMNS,
  'cronjobs.batch': workload.CRON_JOB_COLUMNS,
  'horizontalpodautoscalers.autoscaling': workload.AUTOSCALER_COLUMNS,
  'poddisruptionbudgets.policy': workload.DISRUPTION_BUDGET_COLUMNS,
  'roles.rbac.authorization.k8s.io': other.CREATED_COLUMNS,
  'clusterroles.rbac.authorization.k8s.io': other.CREATED_COLUMNS,
  'rolebindings.rbac.authorization.k8s.io': other.BINDING_COLUMNS,
  'clusterrolebindings.rbac.authorization.k8s.io': other.BINDING_COLUMNS,
  'certificatesigningrequests.certificates.k8s.io': other.CERTIFICATE_REQUEST_COLUMNS,
  'leases.coordination.k8s.io': other.LEASE_COLUMNS,
  'customresourcedefinitions.apiextensions.k8s.io': other.CREATED_COLUMNS,
  'apiservices.apiregistration.k8s.io': other.API_SERVICE_COLUMNS,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': other.WEBHOOK_COLUMNS,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': other.WEBHOOK_COLUMNS,
  'validatingadmissionpolicies.admissionregistration.k8s.io': other.POLICY_COLUMNS,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': other.POLICY_BINDING_COLUMNS,
  'ingresses.networking.k8s.io': other.INGRESS_COLUMNS,
  'networkpolicies.networking.k8s.io': other.NETWORK_POLICY_COLUMNS,
  'storageclasses.storage.k8s.io': other.STORAGE_CLASS_COLUMNS,
  'priorityclasses.scheduling.k8s.io': other.PRIORITY_CLASS_COLUMNS,
};

/** The columns of a kind without its own columns are name and age. */
function builtinColumns(group: string, plural: string): readonly Column[] {
  const key = groupResource({ group, plural });
  return Object.hasOwn(COLUMNS, key) ? (COLUMNS[key] as readonly Column[]) : DEFAULT_COLUMNS;
}

/** Columns of a custom resource: its name and what its definition declares; name and age when it declares nothing. */
function customColumns(declared: readonly PrinterColumn[]): readonly Column[] {
  return declared.length === 0 ? [NAME_COLUMN, AGE_COLUMN] : [NAME_COLUMN, ...declared.map(columnFrom)];
}

function columnFrom(declared: PrinterColumn): Column {
  const find = finder(declared.jsonPath);
  return {
    name: declared.name,
    type: declared.type,
    format: declared.format ?? '',
    description: declared.description ?? '',
    priority: declared.priority ?? 0,
    cell: (object, now) => cellOf(declared.type, find(object), now),
  };
}

/** The first result of a path; undefined where there is none or the path cannot be followed. */
function finder(path: string): (object: JsonObject) => unknown {
  const parsed = parseJsonPath(`{${path}}`);
  if (!parsed.ok) return () => undefined;
  return (object) => {
    const found = findResults(parsed.template, object);
    return found.ok ? found.results[0]?.[0] : undefined;
  };
}

function cellOf(type: string, value: unknown, now: number): JsonValue {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageText(value, now) : null;
    default:
      return formatJsonPathValue(value);
  }
}

/** An object as metadata alone. */
export function partialMetadata(object: JsonObject): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: API_VERSION,
    metadata: objectAt(object, 'metadata') ?? {},
  };
}

export function partialMetadataList(items: readonly JsonObject[], listMeta: JsonObject): JsonObject {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: API_VERSION,
    metadata: listMeta,
    items: items.map(partialMetadata),
  };
}
