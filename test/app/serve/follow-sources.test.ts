import { describe, expect, it } from 'vitest';
import { followSources } from '../../../src/app/serve/serve-controller.ts';
import { PlanApprovals } from '../../../src/controllers/publication/plan-approvals.ts';
import {
  CommitBarrier,
  CommitsInProgress,
} from '../../../src/controllers/sources/progress/commit-barrier.ts';
import type { SourceContent } from '../../../src/controllers/sources/manifests/source-content.ts';
import type { SourceLedger } from '../../../src/controllers/sources/progress/source-ledger.ts';
import type { SourcePlans } from '../../../src/core/publish/approval/pending-plans.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';

const WEB = 'team-a/web';
const read = (commit: string, plan: string): SourceContent =>
  ({
    commit: { id: commit },
    objects: [
      {
        object: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'team-a', ...(plan !== '' && { annotations: { 'berth.dev/plan': plan } }) },
        },
      },
    ],
  }) as unknown as SourceContent;

describe('what follows the sources', () => {
  it('drops an approval that a commit withdraws before the hub counts as whole', async () => {
    const clock = new FakeClock();
    const approvals = new PlanApprovals(new Map<string, SourcePlans>(), clock, ['fleet']);
    const barrier = new CommitBarrier(clock, new Map(), ['fleet']);
    const ledger = { handle: () => undefined } as unknown as SourceLedger;
    const events = followSources({
      arriving: new CommitsInProgress(),
      approvals,
      ledger,
      stages: { handle: () => undefined },
      barrier,
    });
    const step = async (commit: string, plan: string): Promise<void> => {
      await events.emit({ kind: 'read', source: 'fleet', content: read(commit, plan) });
      await events.emit({ kind: 'complete', source: 'fleet' });
    };
    // What the first commit says may be long over.
    await step('0', '');
    await step('a', `${WEB}=000000000001`);
    expect(approvals.pendingFor(WEB)).toHaveLength(1);
    const seen: number[] = [];
    barrier.onCommitsComplete(() => seen.push(approvals.pendingFor(WEB).length));
    await step('b', '');
    expect(seen).toEqual([0]);
  });
});
