import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { ManifestResourceMeta } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import { failureText } from '../rules/applied/kube-failure.ts';
import { withoutOwnerLabel } from '../rules/applied/ownership.ts';

/** One manifest of a work, parsed and resolved. */
export type ManifestTask =
  | {
      readonly ready: true;
      readonly meta: ResolvedMeta;
      readonly manifest: KubeObject;
      readonly kind: KindInfo;
      readonly key: ObjectKey;
    }
  | {
      readonly ready: false;
      readonly meta: ManifestResourceMeta;
      readonly kindName: string | undefined;
      readonly problem: string;
    };

/** All fields are resolved. */
export type ResolvedMeta = { readonly [F in Exclude<keyof ManifestResourceMeta, 'ordinal'>]: string } & {
  readonly ordinal: number;
};

export type ReadyTask = Extract<ManifestTask, { ready: true }>;

/**
 * Identifies the object of a manifest within its work. Its place in the spec changes with its neighbours, and the version
 * is only a view of the object.
 */
export function objectIdOf({ kind, key }: ReadyTask): string {
  return `${kind.group}/${kind.plural} ${key.namespace}/${key.name}`;
}

/** @param ordinal the index in the spec */
export async function readManifest(raw: unknown, ordinal: number, cluster: KubeApi): Promise<ManifestTask> {
  const manifest = asObject(raw);
  if (manifest === undefined)
    return {
      ready: false,
      meta: { ordinal },
      kindName: undefined,
      problem: 'the manifest is not an object with apiVersion, kind and metadata',
    };
  const { kind: kindName } = manifest;
  const meta = {
    ordinal,
    ...groupVersionOf(manifest.apiVersion),
    kind: kindName,
    resource: '',
    name: manifest.metadata.name ?? '',
    namespace: manifest.metadata.namespace ?? '',
  };
  let kind: KindInfo | undefined;
  try {
    kind = await cluster.resolve(manifest.apiVersion, kindName);
  } catch (error) {
    return { ready: false, meta, kindName, problem: failureText(error) };
  }
  if (kind === undefined)
    return {
      ready: false,
      meta,
      kindName,
      problem: `the server doesn't have a resource type "${kindName}"`,
    };
  const namespace = kind.namespaced ? meta.namespace : '';
  const resolved = { ...meta, resource: kind.plural, namespace };
  const problem = addressProblem(resolved.name, namespace, kind);
  if (problem !== undefined) return { ready: false, meta: resolved, kindName, problem };
  return {
    ready: true,
    meta: resolved,
    manifest: inScope(manifest, kind),
    kind,
    key: { namespace, name: resolved.name },
  };
}

function addressProblem(name: string, namespace: string, kind: KindInfo): string | undefined {
  if (name === '') return 'resource name may not be empty';
  // Without a namespace, the path would be that of all namespaces, where nothing can be created.
  return kind.namespaced && namespace === '' ? 'the server could not find the requested resource' : undefined;
}

/** Removes fields that only a server or the agent may set, and the namespace if the kind has none. */
function inScope(manifest: KubeObject, kind: KindInfo): KubeObject {
  const { uid: _uid, resourceVersion: _version, managedFields: _fields, ...rest } = manifest.metadata;
  const metadata = rest.labels === undefined ? rest : { ...rest, labels: withoutOwnerLabel(rest.labels) };
  if (kind.namespaced) return { ...manifest, metadata };
  const { namespace: _namespace, ...clusterScoped } = metadata;
  return { ...manifest, metadata: clusterScoped };
}

function asObject(raw: unknown): KubeObject | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  const { apiVersion, kind, metadata } = raw as Readonly<Record<string, unknown>>;
  const valid =
    typeof apiVersion === 'string' &&
    apiVersion !== '' &&
    typeof kind === 'string' &&
    kind !== '' &&
    typeof metadata === 'object' &&
    metadata !== null;
  return valid ? (raw as KubeObject) : undefined;
}
