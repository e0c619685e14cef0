import type { RawClient } from './raw-client.ts';
import type { Json, Step } from './recorded.ts';

const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks';

export const workPath = (name: string): string => `${WORKS}/${name}`;
export const appliedPath = (name: string): string =>
  `/apis/work.open-cluster-management.io/v1/appliedmanifestworks/${name}`;

/**
 * Sends what the step says.
 * @returns the HTTP status of the answer
 */
export async function takeStep(client: RawClient, hash: string, recorded: Step): Promise<number | undefined> {
  const step = await resolved(client, hash, recorded);
  switch (step.do) {
    case 'applyWork':
      return applyWork(client, step.work ?? missing());
    case 'deleteWork':
      return (await client.send('DELETE', workPath(step.name ?? ''))).status;
    case 'createOnCluster': {
      const object = step.object ?? missing();
      const query = `fieldManager=${step.manager ?? 'recorder'}`;
      return (await client.send('POST', await collectionPath(client, object), { query, body: object }))
        .status;
    }
    case 'patchCluster':
      return patch(client, step);
    case 'deleteOnCluster': {
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
      return (await client.send('DELETE', step.path ?? '', { body })).status;
    }
    case 'statusOnCluster': {
      const query = 'fieldManager=recorder';
      const contentType = 'application/merge-patch+json';
      const body = { status: step.status };
      return (await client.send('PATCH', `${step.path}/status`, { query, contentType, body })).status;
    }
    case 'wait':
      return undefined;
  }
}

async function applyWork(client: RawClient, work: NonNullable<Step['work']>): Promise<number> {
  const existing = await client.get(workPath(work.metadata.name));
  const base = { apiVersion: 'work.open-cluster-management.io/v1', kind: 'ManifestWork' };
  const query = 'fieldManager=recorder';
  if (existing === undefined) {
    const metadata = { ...work.metadata, namespace: 'cluster1' };
    return (await client.send('POST', WORKS, { query, body: { ...base, metadata, spec: work.spec } })).status;
  }
  // The agent writes in between: a conflict only means to look again.
  for (let attempt = 0; ; attempt++) {
    const live = attempt === 0 ? existing : ((await client.get(workPath(work.metadata.name))) ?? existing);
    const { labels: _labels, annotations: _annotations, ...metadata } = live['metadata'] as Json;
    const { labels, annotations } = work.metadata;
    const body = { ...live, metadata: { ...metadata, labels, annotations }, spec: work.spec };
    const { status } = await client.send('PUT', workPath(work.metadata.name), { query, body });
    if (status !== 409 || attempt > 10) return status;
  }
}

async function patch(client: RawClient, step: Step): Promise<number> {
  const types = { json: 'application/json-patch+json', apply: 'application/apply-patch+yaml' };
  const contentType = step.type === undefined ? 'application/merge-patch+json' : types[step.type];
  const force = step.force === true ? '&force=true' : '';
  const query = `fieldManager=${step.manager ?? 'recorder'}${force}`;
  return (await client.send('PATCH', step.path ?? '', { query, contentType, body: step.patch })).status;
}

/** Where an object is created, by discovery. */
async function collectionPath(client: RawClient, object: Json): Promise<string> {
  const apiVersion = String(object['apiVersion']);
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const list = (await client.get(base)) as {
    resources: { name: string; kind: string; namespaced: boolean }[];
  };
  const resource = list.resources.find(({ name, kind }) => kind === object['kind'] && !name.includes('/'));
  if (resource === undefined) throw new Error(`no resource for ${apiVersion} ${String(object['kind'])}`);
  const { namespace } = object['metadata'] as { namespace?: string };
  return resource.namespaced
    ? `${base}/namespaces/${namespace}/${resource.name}`
    : `${base}/${resource.name}`;
}

/** HASH and `$UID:<path>` filled in. */
async function resolved(client: RawClient, hash: string, step: Step): Promise<Step> {
  let text = JSON.stringify({ ...step, observed: undefined }).replaceAll('HASH', hash);
  for (const [found, path] of text.matchAll(/\$UID:([^"]+)/g)) {
    const target = await client.get(path ?? '');
    text = text.replaceAll(found, String((target?.['metadata'] as Json | undefined)?.['uid']));
  }
  return JSON.parse(text) as Step;
}

function missing(): never {
  throw new Error('the step lacks an input');
}
