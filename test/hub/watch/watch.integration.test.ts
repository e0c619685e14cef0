import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';
import type { TestHub, TestWatch } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';

let hub: TestHub;
const open: TestWatch[] = [];
beforeAll(async () => {
  hub = await startTestHub();
});
afterEach(() => {
  for (const watch of open.splice(0)) watch.close();
});
afterAll(() => hub.stop());

let count = 0;
/** A fresh namespace for each test. */
async function namespace(): Promise<string> {
  count += 1;
  const name = `watch-${String(count)}`;
  await hub.call('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  });
  return name;
}

const secrets = (ns: string) => `/api/v1/namespaces/${ns}/secrets`;
const secret = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, labels },
});
const create = async (ns: string, name: string, labels?: Record<string, string>) =>
  (await hub.call('POST', secrets(ns), { body: secret(name, labels) })).body;
const relabel = (ns: string, name: string, labels: Record<string, string | null>) =>
  hub.call('PATCH', `${secrets(ns)}/${name}`, {
    type: 'application/merge-patch+json',
    body: { metadata: { labels } },
  });

async function watch(path: string, accept?: string): Promise<TestWatch> {
  const stream = await hub.watch(path, accept === undefined ? {} : { accept });
  open.push(stream);
  return stream;
}

const brief = (event: LooseJson) => [event.type, event.object.metadata.name];

describe('a watch', () => {
  it('sends its headers before anything happens', async () => {
    const ns = await namespace();
    const stream = await watch(`${secrets(ns)}?watch=true`);
    expect(stream.headers['content-type']).toBe('application/json');
  });

  it('replays from a version without gap or duplicate, then goes on live', async () => {
    const ns = await namespace();
    const first = await create(ns, 'a');
    await create(ns, 'b');
    await relabel(ns, 'b', { x: '1' });
    const stream = await watch(
      `${secrets(ns)}?watch=true&resourceVersion=${first.metadata.resourceVersion as string}`,
    );
    await create(ns, 'c');
    await hub.call('DELETE', `${secrets(ns)}/a`);
    const seen = [await stream.next(), await stream.next(), await stream.next(), await stream.next()];
    expect(seen.map(brief)).toEqual([
      ['ADDED', 'b'],
      ['MODIFIED', 'b'],
      ['ADDED', 'c'],
      ['DELETED', 'a'],
    ]);
    const versions = seen.map((event) => Number(event.object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(4);
  });

  it('says 410 in the stream when the version is from before the start, and ends', async () => {
    const ns = await namespace();
    await create(ns, 'a');
    await hub.restart();
    const stream = await watch(`${secrets(ns)}?watch=true&resourceVersion=1`);
    const all = await stream.rest();
    expect(all).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', reason: 'Expired', code: 410 } }]);
    expect(all[0].object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
  });

  it('refuses the state at a version from the future with 504 and a hint to come back', async () => {
    const state = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=999999999';
    const reply = await hub.call('GET', `/api/v1/secrets?watch=true&${state}`);
    expect(reply.status).toBe(504);
    expect(reply.body.details).toMatchObject({
      retryAfterSeconds: 1,
      causes: [{ reason: 'ResourceVersionTooLarge' }],
    });
  });

  it('turns selector transitions into ADDED and DELETED', async () => {
    const ns = await namespace();
    await create(ns, 'in', { team: 'a' });
    await create(ns, 'out', { team: 'b' });
    const stream = await watch(`${secrets(ns)}?watch=true&labelSelector=team%3Da`);
    expect(brief(await stream.next())).toEqual(['ADDED', 'in']);
    await relabel(ns, 'out', { team: 'a' });
    expect(brief(await stream.next())).toEqual(['ADDED', 'out']);
    await relabel(ns, 'out', { note: 'x' });
    expect(brief(await stream.next())).toEqual(['MODIFIED', 'out']);
    await relabel(ns, 'in', { team: null });
    const gone = await stream.next();
    expect(brief(gone)).toEqual(['DELETED', 'in']);
    await hub.call('DELETE', `${secrets(ns)}/out`);
    expect(brief(await stream.next())).toEqual(['DELETED', 'out']);
  });

  it('shows one object by field selector or by path', async () => {
    const ns = await namespace();
    const byField = await watch(`${secrets(ns)}?watch=true&fieldSelector=metadata.name%3Done`);
    const byPath = await watch(`${secrets(ns)}/one?watch=true`);
    const everywhere = await watch(`/api/v1/secrets?watch=true&fieldSelector=metadata.name%3Done`);
    await create(ns, 'other');
    await create(ns, 'one');
    for (const stream of [byField, byPath, everywhere])
      expect(brief(await stream.next())).toEqual(['ADDED', 'one']);
  });

  it('gives deletions the version of the deletion', async () => {
    const ns = await namespace();
    const made = await create(ns, 'a');
    const stream = await watch(
      `${secrets(ns)}?watch=true&resourceVersion=${made.metadata.resourceVersion as string}`,
    );
    await hub.call('DELETE', `${secrets(ns)}/a`);
    const event = await stream.next();
    expect(Number(event.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(made.metadata.resourceVersion),
    );
  });

  it('ends after timeoutSeconds with a last bookmark', async () => {
    const ns = await namespace();
    const stream = await watch(`${secrets(ns)}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true`);
    const all = await stream.rest();
    expect(all).toMatchObject([{ type: 'BOOKMARK', object: { kind: 'Secret', apiVersion: 'v1' } }]);
  });

  it('shows Tables whose columns come once', async () => {
    const ns = await namespace();
    await create(ns, 'a');
    const stream = await watch(
      `${secrets(ns)}?watch=true`,
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    );
    const first = await stream.next();
    expect(first.object.kind).toBe('Table');
    expect(first.object.columnDefinitions.length).toBeGreaterThan(0);
    await create(ns, 'b');
    const second = await stream.next();
    expect(second.object.columnDefinitions ?? []).toEqual([]);
    expect(second.object.rows[0].cells[0]).toBe('b');
  });

  it('shows metadata alone', async () => {
    const ns = await namespace();
    await create(ns, 'a');
    const accept =
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const event = await (await watch(`${secrets(ns)}?watch=true`, accept)).next();
    expect(event.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    expect(event.object).not.toHaveProperty('type');
  });

  it('continues over a restart from the newest version', async () => {
    const ns = await namespace();
    await create(ns, 'a');
    const list = await hub.call('GET', secrets(ns));
    await hub.restart();
    const stream = await watch(
      `${secrets(ns)}?watch=true&resourceVersion=${list.body.metadata.resourceVersion as string}`,
    );
    await create(ns, 'b');
    expect(brief(await stream.next())).toEqual(['ADDED', 'b']);
  });
});

describe('a watcher that does not read', () => {
  it('is cut off, and the others do not notice', async () => {
    const ns = await namespace();
    const reading = await watch(`${secrets(ns)}?watch=true`);
    const stalled = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${hub.token}` };
      const sent = request(
        `${hub.hub.url}${secrets(ns)}?watch=true`,
        { ca: hub.hub.caPem, headers },
        resolve,
      );
      sent.on('error', reject);
      sent.end();
    });
    stalled.pause();
    stalled.on('error', () => undefined);
    const closed = new Promise<boolean>((resolve) => stalled.on('close', () => resolve(stalled.complete)));
    const data = { blob: Buffer.alloc(300_000, 1).toString('base64') };
    for (let index = 0; index < 80; index += 1) {
      const body = { ...secret(`s${String(index)}`), data };
      expect((await hub.call('POST', secrets(ns), { body })).status).toBe(201);
      expect((await reading.next()).object.metadata.name).toBe(`s${String(index)}`);
    }
    stalled.resume();
    expect(await closed).toBe(false);
  });
});

describe('a watch-list', () => {
  const query =
    'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

  it('streams the state, marks its end, and goes on', async () => {
    const ns = await namespace();
    await create(ns, 'a');
    await create(ns, 'b');
    const stream = await watch(`${secrets(ns)}?${query}`);
    expect(brief(await stream.next())).toEqual(['ADDED', 'a']);
    expect(brief(await stream.next())).toEqual(['ADDED', 'b']);
    const mark = await stream.next();
    expect(mark.type).toBe('BOOKMARK');
    expect(mark.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    const made = await create(ns, 'c');
    expect(Number(mark.object.metadata.resourceVersion)).toBeLessThan(Number(made.metadata.resourceVersion));
    expect(brief(await stream.next())).toEqual(['ADDED', 'c']);
  });

  it('marks the end of an empty state too', async () => {
    const ns = await namespace();
    expect((await (await watch(`${secrets(ns)}?${query}`)).next()).type).toBe('BOOKMARK');
  });

  it('loses nothing and doubles nothing when objects come while the state is sent', async () => {
    const ns = await namespace();
    await Promise.all(Array.from({ length: 600 }, (_, index) => create(ns, `s${String(index)}`)));
    const writing = Promise.all(
      Array.from({ length: 200 }, (_, index) => create(ns, `later${String(index)}`)),
    );
    const stream = await watch(`${secrets(ns)}?${query}`);
    await writing;
    const seen = new Map<string, number>();
    while (seen.size < 800) {
      const event = await stream.next();
      if (event.type === 'BOOKMARK') continue;
      expect(event.type).toBe('ADDED');
      const name = event.object.metadata.name as string;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
  });

  it.each([
    ['sendInitialEvents=true', 'requires setting resourceVersionMatch'],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=0', 'forbidden for watch unless sendInitialEvents'],
  ])('refuses %s with 422', async (bad, message) => {
    const reply = await hub.call('GET', `/api/v1/secrets?watch=true&${bad}`);
    expect(reply.status).toBe(422);
    expect(reply.body.message).toContain(message);
  });
});
