import { expect, it } from 'vitest';
import { PreviousRecords } from '../../../src/controllers/publication/recorded-publications.ts';
import type { DecisionRecord } from '../../../src/core/publish/record/decision-record.ts';
import { decisionRecord } from '../../fakes/decision-record.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const WEB = 'team-a/web';
const RECORDS = [
  decisionRecord({ hash: '1', publishedAt: '2026-01-01T00:00:00Z' }),
  decisionRecord({ hash: '2', publishedAt: '2026-01-02T00:00:00Z' }),
  decisionRecord({ hash: '3', placement: 'team-a/api' }),
];

async function loaded(records: Promise<readonly DecisionRecord[]>) {
  const log = new SilentLogger();
  const previousRecords = new PreviousRecords(records, log);
  await previousRecords.whenLoaded();
  return { previousRecords, log };
}

it('has the newest record of each placement until it was compared', async () => {
  const { previousRecords } = await loaded(Promise.resolve(RECORDS));
  expect(previousRecords.of(WEB)).toMatchObject({ newest: { hash: '2' }, areReadable: true });
  expect(previousRecords.of(WEB).oldestAtMs).toBe(Date.parse('2026-01-01T00:00:00Z'));
  previousRecords.drop(WEB);
  expect([previousRecords.of(WEB).newest, previousRecords.of('team-a/api').newest?.hash]).toEqual([
    undefined,
    '3',
  ]);
});

it('has none where another process has published since, also when they are read later', async () => {
  const { previousRecords } = await loaded(Promise.resolve(RECORDS));
  previousRecords.forget();
  expect(previousRecords.of(WEB).newest).toBeUndefined();
  const late = new PreviousRecords(Promise.resolve(RECORDS), new SilentLogger());
  late.forget();
  await late.whenLoaded();
  expect(late.of(WEB)).toMatchObject({ newest: undefined, areReadable: true });
});

it('says that they cannot be read', async () => {
  const { previousRecords, log } = await loaded(Promise.reject(new Error('EIO')));
  expect(previousRecords.of(WEB)).toMatchObject({ newest: undefined, areReadable: false });
  expect(log.entries).toMatchObject([{ level: 'warn' }]);
});
