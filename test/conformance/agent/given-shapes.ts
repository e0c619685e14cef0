import type { Json, RecordedHistory, Step } from './recorded.ts';

/**
 * Which fields of which object some manifest or step gave up to a step, by path: maps of fields, one shape for all items of a list,
 * null for a leaf. Metadata is compared elsewhere, status not at all.
 */
export function givenShapes(history: RecordedHistory, upTo: number): ReadonlyMap<string, unknown> {
  const paths = new Set(
    history.steps.flatMap((step) => (step.observed?.applied ?? []).map(({ path }) => path)),
  );
  const shapes = new Map<string, unknown>();
  for (const step of history.steps.slice(0, upTo + 1))
    for (const path of paths)
      for (const given of givenBy(step, path)) shapes.set(path, merge(shapes.get(path), shapeOf(given)));
  return shapes;
}

function givenBy(step: Step, path: string): readonly unknown[] {
  // The recording leaves out what is in a definition.
  if (path.includes('/customresourcedefinitions/')) return [{}];
  const manifests = (
    (step.work?.spec['workload'] as { manifests?: readonly Json[] } | undefined)?.manifests ?? []
  ).filter((manifest) => isAt(manifest, path));
  const created = step.object !== undefined && isAt(step.object, path) ? [step.object] : [];
  const patched =
    step.do === 'patchCluster' && step.path === path && !Array.isArray(step.patch) ? [step.patch] : [];
  return [...manifests, ...created, ...patched].map(contentOf);
}

function contentOf(object: unknown): unknown {
  const {
    metadata: _metadata,
    status: _status,
    apiVersion: _version,
    kind: _kind,
    ...content
  } = object as Json;
  // A Secret's stringData is never seen again.
  delete content['stringData'];
  return content;
}

function isAt(object: Json, path: string): boolean {
  const { name, namespace } = object['metadata'] as { name?: string; namespace?: string };
  const apiVersion = String(object['apiVersion']);
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}/` : `/api/${apiVersion}/`;
  if (!path.startsWith(base) || !path.endsWith(`/${name}`)) return false;
  const segments = path.slice(base.length).split('/');
  const resource = segments.at(-2) ?? '';
  const kind = String(object['kind']).toLowerCase();
  const inNamespace = segments.length > 2 ? segments[1] : undefined;
  return resource.startsWith(kind.slice(0, -1)) && (inNamespace === undefined || inNamespace === namespace);
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [value.map(shapeOf).reduce(merge, undefined)];
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

function merge(a: unknown, b: unknown): unknown {
  if (a === undefined || a === null) return b ?? null;
  if (b === undefined || b === null) return a;
  if (Array.isArray(a) || Array.isArray(b)) {
    const first = Array.isArray(a) ? (a[0] as unknown) : undefined;
    const second = Array.isArray(b) ? (b[0] as unknown) : undefined;
    return [merge(first, second)];
  }
  const merged: Json = { ...(a as Json) };
  for (const [key, item] of Object.entries(b as Json)) merged[key] = merge(merged[key], item);
  return merged;
}
