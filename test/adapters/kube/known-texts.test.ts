import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownTexts, statusOf } from '../../../src/adapters/kube/known-texts.ts';
import type { KubeObject } from '../../../src/core/model/object-meta.ts';

const METADATA = { name: 'p-1', namespace: 'team', labels: { a: 'b' }, uid: 'u1', resourceVersion: '41' };
const { resourceVersion: _version, ...withoutVersion } = METADATA;
const STATUS = { decisions: [{ clusterName: 'c1', reason: '' }] };

const eventLine = (object: object, type = 'MODIFIED'): string => JSON.stringify({ type, object });
const pageWith = (metadata: object, rest: object): object => ({
  apiVersion: 'x/v1',
  kind: 'Page',
  metadata,
  ...rest,
});

/** As after a write of the status that was answered with the metadata. */
function knowing(metadata: object, status?: object): KnownTexts {
  const known = new KnownTexts();
  const answer = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  const sent = status === undefined ? undefined : statusOf({ metadata: { uid: 'u1' }, status });
  known.written(answer as unknown as KubeObject, `${JSON.stringify(answer)}\n`, sent);
  return known;
}

/** The event, and how many characters of it were parsed. */
function read(known: KnownTexts, line: string) {
  let parsedChars = 0;
  const event = known.parse(line, (text) => {
    parsedChars += text.length;
    return JSON.parse(text) as unknown;
  });
  return { event: event as { object: { metadata: unknown; status: unknown } }, parsedChars };
}

describe('KnownTexts', () => {
  it('knows what was written again, and parses only the rest', () => {
    const long = { decisions: Array.from({ length: 100 }, (_, i) => ({ clusterName: `c${i}`, reason: '' })) };
    const line = eventLine(pageWith(METADATA, { spec: { a: 1 }, status: long }));
    const { event, parsedChars } = read(knowing(METADATA, long), line);
    expect(event).toEqual(JSON.parse(line));
    expect(event.object.metadata).toBe(METADATA);
    expect(event.object.status).toBe(long);
    expect(parsedChars).toBeLessThan(250);
  });

  it('knows a creation again, which has no status', () => {
    const line = eventLine(pageWith(METADATA, {}), 'ADDED');
    const { event } = read(knowing(METADATA), line);
    expect(event).toEqual(JSON.parse(line));
    expect(event.object.metadata).toBe(METADATA);
  });

  it.each([
    { name: 'a status that a webhook changed', rest: { status: { decisions: [] } } },
    { name: 'more in the status than was sent', rest: { status: { ...STATUS, more: 1 } } },
    { name: 'no status', rest: {} },
    { name: 'the status as a part of something else', rest: { spec: { status: STATUS }, status: {} } },
    { name: 'the status twice', rest: { spec: { status: STATUS }, status: STATUS } },
    { name: 'a key that ends like the one of the status', rest: { 'x"status': STATUS, status: {} } },
    { name: 'other metadata of the version', metadata: { ...METADATA, finalizers: ['f'] } },
    { name: 'another version', metadata: { ...METADATA, resourceVersion: '42' } },
    { name: 'metadata in another order', metadata: { resourceVersion: '41', ...withoutVersion } },
    {
      name: 'names that look like keys',
      metadata: { ...METADATA, annotations: { a: '"status":{"metadata":{' } },
    },
  ])('believes the server: $name', ({ metadata = METADATA, rest = { status: STATUS } }) => {
    const line = eventLine(pageWith(metadata, rest));
    expect(read(knowing(METADATA, STATUS), line).event).toEqual(JSON.parse(line));
  });

  it.each(['{}', '{"type":"ERROR","object":{"kind":"Status","metadata":{},"code":410}}', '[]', 'null'])(
    'leaves %s alone',
    (line) => expect(read(knowing(METADATA, STATUS), line).event).toEqual(JSON.parse(line)),
  );

  it('gives what parsing gives, whatever is known and whatever comes', () => {
    const key = fc.constantFrom('metadata', 'status', 'a', '"status":{', 'resourceVersion');
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom('41', 'x"', null, 1),
        fc.dictionary(key, tie('value'), { maxKeys: 3 }),
        fc.array(tie('value'), { maxLength: 2 }),
      ),
    })).value;
    const part = fc.dictionary(key, value, { maxKeys: 3 });
    fc.assert(
      fc.property(part, part, part, fc.boolean(), (metadata, status, rest, isSame) => {
        const versioned = { ...metadata, resourceVersion: '41' };
        const known = knowing(versioned, status);
        const line = eventLine({ ...rest, metadata: versioned, ...(isSame ? { status } : {}), ...rest });
        expect(read(known, line).event).toEqual(JSON.parse(line));
      }),
      { numRuns: 500 },
    );
  });

  it('forgets what no watch tells of', () => {
    const known = new KnownTexts();
    const big = { text: 'x'.repeat(100_000) };
    for (let version = 1; version <= 20; version++) {
      const metadata = { ...METADATA, resourceVersion: String(version) };
      const answer = { kind: 'PartialObjectMetadata', metadata } as unknown as KubeObject;
      known.written(answer, JSON.stringify(answer), statusOf({ status: big }));
    }
    const statusSeen = (version: number): unknown => {
      const metadata = { ...METADATA, resourceVersion: String(version) };
      return read(known, eventLine(pageWith(metadata, { status: big }))).event.object.status;
    };
    expect(statusSeen(1)).not.toBe(big);
    expect(statusSeen(20)).toBe(big);
  });
});

describe('statusOf', () => {
  it.each([
    { metadata: { uid: 'u', resourceVersion: undefined }, status: STATUS },
    { status: STATUS },
    { status: {} },
  ])('writes the patch as it is: %j', (patch) => {
    expect(statusOf(patch)?.patchText).toBe(JSON.stringify(patch));
  });

  it.each([{ metadata: {} }, { status: null }, { status: 'x' }])('finds none in %j', (patch) => {
    expect(statusOf(patch)).toBeUndefined();
  });
});
