import { describe, expect, it } from 'vitest';
import { RecordedPublications } from '../../../src/controllers/publication/recorded-publications.ts';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { Placement } from '@berth/ocm/kind/placement';
import type { PublishState } from '../../../src/core/publish/judge/publish-state.ts';
import { compactRecord, RECORDS_NAME } from '../../../src/core/publish/record/compact-record.ts';
import { decisionRecord } from '../../fakes/decision-record.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const digest = (text: string): string => text;
const web: Placement = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: {},
};

/** The hub has a record of `team-a/web`: two clusters were removed just now. */
async function world(kept: Readonly<Record<string, PublishState>> = {}) {
  const [api, clock] = [new FakeKubeApi(), new FakeClock()];
  const publishedAt = new Date(clock.now()).toISOString();
  const record = compactRecord(
    digest,
    decisionRecord({ hash: 'r1', placement: 'team-a/web', publishedAt, removed: ['c1', 'c2'] }),
  );
  await api.create(CONFIG_MAP, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: RECORDS_NAME, namespace: 'team-a' },
    data: { r1: JSON.stringify(record) },
  });
  const states = new Map(Object.entries(kept));
  const publishStates = {
    get: (key: string) => states.get(key),
    set: (key: string, state: PublishState) => void states.set(key, state),
  };
  const publications = new RecordedPublications({
    ...{ api, clock, digest },
    log: new SilentLogger(),
    publishStates: publishStates as never,
  });
  return { states, publications };
}

describe('the publications of earlier processes', () => {
  it('count for a placement that the data directory does not know', async () => {
    const { states, publications } = await world();
    await publications.recall(web);
    expect(states.get('team-a/web')).toMatchObject({ recalled: true, removals: [{ count: 2 }] });
  });

  it('do not replace what the data directory knows', async () => {
    const own: PublishState = { specHash: '', publishedAtMs: 0, removals: [] };
    const { states, publications } = await world({ 'team-a/web': own });
    await publications.recall(web);
    expect(states.get('team-a/web')).toBe(own);
  });
});
