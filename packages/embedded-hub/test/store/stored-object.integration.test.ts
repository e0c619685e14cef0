import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeRecord, encodePut, encodeRecord } from '../../src/log/log-record.ts';
import type { PutRecord } from '../../src/log/log-record.ts';
import { StoredObject } from '../../src/store/stored-object.ts';
import { makeEarlierDataDirectory } from '../fakes/earlier-data-directory.ts';
import type { TestHub } from '../hub-harness.ts';
import { startTestHub } from '../hub-harness.ts';

const head = { type: 'put', rv: 7, timeMs: 1, storage: 'configmaps', namespace: 'ns', name: 'a' } as const;
const facts = { uid: 'u1', owners: ['u0'], deleting: false };
const object = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid: 'u1', ownerReferences: [{ uid: 'u0' }] },
};
const line = (text: string): Buffer => Buffer.from(text.replace(/\n$/, ''));

describe('the record of a put', () => {
  it.each<{ name: string; record: Parameters<typeof encodePut>[0]; object: unknown }>([
    { name: 'plain', record: { ...head, facts }, object },
    { name: 'without facts, as earlier versions wrote it', record: head, object },
    { name: 'no text in any language', record: head, object: { metadata: { name: 'ü\u2028"' } } },
    {
      name: 'the mark inside names and values',
      record: { ...head, storage: ',"object":{}', name: '\\",\\"object\\":' },
      object: { data: { text: ',"object":{"a":1}}', ',"object":': '1' }, object: { object: {} } },
    },
  ])('is read as it was written: $name', ({ record, object: written }) => {
    const read = decodeRecord(line(encodePut(record, JSON.stringify(written)))) as PutRecord;
    const { type, rv, storage, namespace, name } = read;
    expect({ type, rv, storage, namespace, name }).toEqual({
      type: 'put',
      rv: 7,
      storage: record.storage,
      namespace: 'ns',
      name: record.name,
    });
    expect(read.object).toEqual(written);
    expect(read.json).toBe(JSON.stringify(written));
    expect(read.facts).toEqual(record.facts);
  });

  it('leaves the other records alone, and knows no half of one', () => {
    const end = { type: 'end', rv: 3, objects: 2 } as const;
    expect(decodeRecord(line(encodeRecord(end)))).toEqual(end);
    const whole = encodePut(head, '{"a":1}');
    for (let cut = 1; cut < whole.length - 1; cut += 1)
      expect(decodeRecord(Buffer.from(whole.slice(0, cut)))).toBeUndefined();
  });
});

describe('a recovered object', () => {
  const key = { namespace: 'ns', name: 'a' };

  it('is frozen to the bottom once somebody looks at it', () => {
    const entry = StoredObject.fromJson(key, 7, JSON.stringify(object), facts);
    expect(entry.object).toEqual(object);
    expect(Object.isFrozen(entry.object['metadata'])).toBe(true);
    expect(entry.object).toBe(entry.object);
    expect(entry.json()).toBe(JSON.stringify(object));
  });

  it('says the same of itself with and without facts in its record', () => {
    const metadata = { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    for (const one of [object, { ...object, metadata }, { metadata: { name: 'a' } }]) {
      const { facts: found } = StoredObject.of(key, 7, one);
      expect(StoredObject.fromJson(key, 7, JSON.stringify(one), undefined).facts).toEqual(found);
    }
  });

  it.each([
    '{"apiVersion":"a/v1","kind":"K"}',
    '{"kind":"K","apiVersion":"a/v1"}',
    '{"metadata":{"name":"x"},"apiVersion":"a/v1","kind":"K"}',
    '{"kind":"apiVersion\\":\\"b","apiVersion":"a/v1"}',
    '{"spec":{"kind":"X","apiVersion":"b/v1"},"apiVersion":"a/v1"}',
    '{"apiVersion":"\\u0061/v1"}',
  ])('knows its version: %s', (json) => {
    expect(StoredObject.fromJson(key, 7, json, facts).apiVersion).toBe('a/v1');
  });
});

describe('after a restart', () => {
  const MAPS = '/api/v1/namespaces/default/configmaps';
  const map = (name: string, metadata: object = {}) => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, ...metadata },
    data: { text: name },
  });
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startTestHub({ dataDir: mkdtempSync(join(tmpdir(), 'berth-stored-')) });
    for (let index = 0; index < 600; index += 1)
      await hub.call('POST', MAPS, {
        body: map(`m${String(index)}`, { labels: { odd: String(index % 2 === 1) } }),
      });
    await hub.restart();
  });
  afterAll(async () => {
    await hub.stop();
    rmSync(hub.dataDir, { recursive: true, force: true });
  });

  it('selects by labels and fields, patches and deletes as before', async () => {
    const odd = await hub.call('GET', `${MAPS}?labelSelector=odd=true`);
    expect(odd.body.items).toHaveLength(300);
    const one = await hub.call('GET', `${MAPS}?fieldSelector=metadata.name=m7`);
    expect(one.body.items).toMatchObject([map('m7')]);
    const type = 'application/merge-patch+json';
    const patched = await hub.call('PATCH', `${MAPS}/m8`, { type, body: { data: { more: '1' } } });
    expect(patched.body).toMatchObject({ data: { text: 'm8', more: '1' } });
    expect((await hub.call('DELETE', `${MAPS}/m9`)).status).toBe(200);
    expect((await hub.call('GET', `${MAPS}/m10`)).body).toMatchObject(map('m10'));
  });

  it('shows a watch with a selector what matches', async () => {
    const watch = await hub.watch(`${MAPS}?watch=true&resourceVersion=0&labelSelector=odd=true`);
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'm1' } } });
    watch.close();
  });

  it('collects what lost its owner while nobody looked', async () => {
    const owner = (await hub.call('POST', MAPS, { body: map('owner') })).body;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
    await hub.call('POST', MAPS, { body: map('owned', { ownerReferences: [reference] }) });
    await hub.restart();
    expect((await hub.call('GET', `${MAPS}/owned`)).status).toBe(200);
    await hub.call('DELETE', `${MAPS}/owner`);
    await expect.poll(async () => (await hub.call('GET', `${MAPS}/owned`)).status).toBe(404);
  });

  it('reads the log of an earlier version, which has no facts', async () => {
    await hub.hub.close();
    const directory = join(hub.dataDir, 'hub');
    makeEarlierDataDirectory(hub.dataDir);
    for (const name of readdirSync(directory).filter((file) => file.endsWith('.jsonl'))) {
      const lines = readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
      const old = lines.map((text) => {
        const record = JSON.parse(text.slice(text.indexOf('{'))) as PutRecord;
        if (record.type !== 'put') return `${text}\n`;
        const { facts: _facts, object: stored, ...rest } = record;
        return encodePut(rest, JSON.stringify(stored));
      });
      writeFileSync(join(directory, name), old.join(''));
    }
    await hub.restart();
    expect((await hub.call('GET', `${MAPS}?labelSelector=odd=false`)).body.items).toHaveLength(300);
  });
});
