import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type DecisionRecord, sealRecord } from '../../../../src/core/publish/record/decision-record.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const unsealed: Omit<DecisionRecord, 'hash'> = {
  placement: 'team-a/web',
  publishedAt: '2026-03-01T12:00:00.123Z',
  engineVersion: '0.1.0',
  commit: { id: 'a'.repeat(40), author: 'Ada "the first" <ada@example.org>', subject: 'Grüße \u2028 {' },
  inventoryRevision: 7,
  inputs: 'b'.repeat(32),
  decided: '{"selected":["c1"]}',
  clusters: 1,
  published: null,
  added: ['c1'],
  removed: [],
  released: null,
};

describe('sealRecord', () => {
  it.each([
    { name: 'a publication', record: unsealed },
    { name: 'one found after a restart', record: { ...unsealed, afterRestart: true as const } },
    { name: 'one with a field that is not set', record: { ...unsealed, afterRestart: undefined } },
  ])('gives the JSON of $name, and a hash of all else that is in it', ({ record }) => {
    const sealed = sealRecord(sha256, record);
    const { hash, ...rest } = JSON.parse(sealed.text) as DecisionRecord;
    expect(hash).toBe(sha256(JSON.stringify(rest)).slice(0, 16));
    expect(sealed.text).toBe(JSON.stringify(sealed.record));
  });

  it('names a record as earlier versions did', () => {
    expect(sealRecord(sha256, unsealed).record.hash).toBe('dc7b537ab410ceb2');
  });
});
