import { afterEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK } from '../src/model/kinds.ts';
import type { KubeObject } from '../src/model/object-meta.ts';
import { type Answer, startScripted } from './scripted-server.ts';

const LONGEST = '9223372036854775807';
const KEY = { namespace: 'c1', name: 'web' };
const TEXT = `{"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"web","namespace":"c1","resourceVersion":"7"},"spec":{"n":${LONGEST},"small":3}}`;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** What the API server has is TEXT. */
const serve: Answer = ({ method, url }, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  if (url.includes('watch=')) response.write(`{"type":"ADDED","object":${TEXT}}\n`);
  else
    response.end(
      method !== 'GET' || url.endsWith('/web')
        ? TEXT
        : `{"kind":"ManifestWorkList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[${TEXT}]}`,
    );
};

async function client(exactIntegers: boolean) {
  const started = await startScripted(serve, { exactIntegers });
  stops.push(started.close);
  return started;
}

const numberOf = (object: KubeObject | undefined): unknown =>
  (object?.['spec'] as { n: unknown } | undefined)?.n;

describe.each([
  { exact: true, want: BigInt(LONGEST) },
  { exact: false, want: Number(LONGEST) },
])('exact integers: $exact', ({ exact, want }) => {
  it('what is read', async () => {
    const { api } = await client(exact);
    expect(numberOf(await api.get(MANIFEST_WORK, KEY))).toBe(want);
    expect(numberOf((await api.list(MANIFEST_WORK)).items[0])).toBe(want);
    const stop = new AbortController();
    for await (const event of api.watch(MANIFEST_WORK, { resourceVersion: '7', signal: stop.signal })) {
      expect(numberOf(event.type === 'bookmark' ? undefined : event.object)).toBe(want);
      stop.abort();
    }
  });

  it('what is written, by every verb', async () => {
    const { api, seen } = await client(exact);
    const object = (await api.get(MANIFEST_WORK, KEY)) as KubeObject;
    const answers = [
      await api.create(MANIFEST_WORK, object),
      await api.update(MANIFEST_WORK, object),
      await api.mergePatch(MANIFEST_WORK, KEY, { spec: object['spec'] }),
      await api.apply(MANIFEST_WORK, object, { fieldManager: 'work-agent' }),
    ];
    expect(answers.map(numberOf)).toEqual(answers.map(() => want));
    const bodies = seen.flatMap(({ body }) => (body === '' ? [] : [body]));
    expect(bodies).toHaveLength(4);
    for (const body of bodies) expect(body).toContain(`"n":${String(want)},"small":3`);
  });
});
