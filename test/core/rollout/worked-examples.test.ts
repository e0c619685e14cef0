import { describe, expect, it } from 'vitest';
import type { RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import { planRollout } from '../../../src/core/rollout/plan-rollout.ts';
import type {
  ClusterRolloutStatus,
  RolloutGroup,
  RolloutRules,
} from '../../../src/core/rollout/rollout-plan.ts';

/**
 * `groups`: `0canary{c1,c2} 1{c3}` or a count N for one group {c1..cN}. `existing`: `c1=S@10` is Succeeded 10 s ago.
 * Answers: `R[..] T[..] D[..]` (rolled out, timed out, removed), ` breach`, ` recheck 50s`. `berth` only where our rules differ.
 */
interface Example {
  readonly id: string;
  readonly type: 'All' | 'Progressive' | 'PerGroup';
  readonly groups: string | number;
  readonly with?: Readonly<Record<string, string | number>>;
  readonly existing?: string;
  readonly upstream: string;
  readonly berth?: string;
}

const three = '0{c1,c2,c3} 1{c4,c5} 2{c6}';
const EXAMPLES: readonly Example[] = [
  { id: 'A1', type: 'All', groups: 3, upstream: 'R[c1A c2A c3A]' },
  {
    id: 'A2',
    type: 'All',
    groups: 3,
    with: { dl: 'None' },
    existing: 'c1=F c2=P c3=S',
    upstream: 'R[c1F c2P]',
  },
  {
    id: 'A3',
    type: 'All',
    groups: 3,
    with: { dl: '90s' },
    existing: 'c1=P@120 c2=P@30 c3=F@200',
    upstream: 'R[c2P] T[c1 c3] recheck 60s',
  },
  { id: 'A4', type: 'All', groups: 1, with: { dl: '0s' }, existing: 'c1=P@0', upstream: 'R[] T[c1]' },
  { id: 'A5', type: 'All', groups: 1, existing: 'c1=S cX=S cY=A', upstream: 'R[] D[cX cY]' },
  { id: 'A6', type: 'All', groups: 3, existing: 'c1=K c2=T', upstream: 'R[c3A]' },
  { id: 'P1', type: 'Progressive', groups: 6, with: { conc: 2 }, upstream: 'R[c1A c2A]' },
  {
    id: 'P2',
    type: 'Progressive',
    groups: 6,
    with: { conc: 2 },
    existing: 'c1=A c2=A',
    upstream: 'R[c1A c2A]',
  },
  {
    id: 'P3',
    type: 'Progressive',
    groups: 6,
    with: { conc: 2 },
    existing: 'c1=S c2=P',
    upstream: 'R[c2P c3A]',
  },
  {
    id: 'P4',
    type: 'Progressive',
    groups: 6,
    with: { conc: 2, mf: 0 },
    existing: 'c1=S c2=F',
    upstream: 'R[c2F] breach',
  },
  {
    id: 'P5',
    type: 'Progressive',
    groups: 6,
    with: { conc: 2, mf: 1 },
    existing: 'c1=S c2=F',
    upstream: 'R[c2F c3A]',
  },
  {
    id: 'P6',
    type: 'Progressive',
    groups: 6,
    with: { conc: 2, mf: 2 },
    existing: 'c1=F c2=F',
    upstream: 'R[c1F c2F]',
  },
  {
    id: 'P7',
    type: 'Progressive',
    groups: 6,
    with: { conc: 2, mf: 2, dl: '5s' },
    existing: 'c1=F@5 c2=F@5',
    upstream: 'R[c3A c4A] T[c1 c2]',
  },
  {
    id: 'P8',
    type: 'Progressive',
    groups: 6,
    with: { conc: 2, mf: 1, dl: '5s' },
    existing: 'c1=F@5 c2=F@5',
    upstream: 'R[] T[c1 c2] breach',
  },
  {
    id: 'P9 soaking',
    type: 'Progressive',
    groups: 6,
    with: { conc: 1, soak: '60s' },
    existing: 'c1=S@10',
    upstream: 'R[c1S] recheck 50s',
  },
  {
    id: 'P9 soaked',
    type: 'Progressive',
    groups: 6,
    with: { conc: 1, soak: '60s' },
    existing: 'c1=S@60',
    upstream: 'R[c2A]',
  },
  { id: 'P10', type: 'Progressive', groups: 5, with: { conc: '50%' }, upstream: 'R[c1A c2A c3A]' },
  ...[0, -1, '0%', 7].map(
    (conc): Example => ({
      id: `P11 ${conc}`,
      type: 'Progressive',
      groups: 6,
      with: { conc },
      upstream: 'R[c1A c2A c3A c4A c5A c6A]',
    }),
  ),
  {
    id: 'P12',
    type: 'Progressive',
    groups: 6,
    with: { conc: 6, mf: '25%' },
    existing: 'c1=F c2=F',
    upstream: 'R[c1F c2F c3A c4A c5A c6A]',
  },
  {
    id: 'P12 three failures',
    type: 'Progressive',
    groups: 6,
    with: { conc: 6, mf: '25%' },
    existing: 'c1=F c2=F c3=F',
    upstream: 'R[c1F c2F c3F] breach',
  },
  {
    id: 'P13',
    type: 'Progressive',
    groups: 6,
    with: { conc: 6, mf: 10 },
    existing: 'c1=F',
    upstream: 'R[c1F] breach',
  },
  { id: 'P14 mf', type: 'Progressive', groups: 6, with: { mf: '2' }, upstream: 'error' },
  { id: 'P14 conc', type: 'Progressive', groups: 6, with: { conc: '2' }, upstream: 'error' },
  {
    id: 'P15',
    type: 'Progressive',
    groups: 6,
    with: { conc: 3, mf: 0 },
    existing: 'c1=F c2=A',
    upstream: 'R[c1F] breach',
  },
  {
    id: 'P16',
    type: 'Progressive',
    groups: 6,
    with: { conc: 3, mf: 0 },
    existing: 'c1=A c2=F',
    upstream: 'R[c1A c2F] breach',
    berth: 'R[c2F] breach',
  },
  {
    id: 'P17',
    type: 'Progressive',
    groups: 6,
    with: { conc: 6, mf: 3, dl: '60s', soak: '30s' },
    existing: 'c1=P@20 c2=F@40 c3=S@10',
    upstream: 'R[c1P c2F c3S c4A c5A c6A] recheck 20s',
  },
  { id: 'P18', type: 'Progressive', groups: 12, with: { conc: 3 }, upstream: 'R[c1A c10A c11A]' },
  {
    id: 'P18 group order',
    type: 'Progressive',
    groups: '0{z} 1{b} 2{a}',
    with: { conc: 2 },
    upstream: 'R[aA bA]',
  },
  {
    id: 'P19',
    type: 'Progressive',
    groups: 4,
    with: { conc: 1 },
    existing: 'c2=P c3=P',
    upstream: 'R[c2P]',
    berth: 'R[c2P c3P]',
  },
  {
    id: 'M1',
    type: 'Progressive',
    groups: '0{c1,c2} 1{c3,c4} 2{c5,c6}',
    with: { conc: 1, mandatory: 1 },
    upstream: 'R[c3A c4A]',
  },
  {
    id: 'M2',
    type: 'Progressive',
    groups: '0{c1,c2} 1{c3,c4} 2{c5,c6}',
    with: { conc: 1, mandatory: 1, mf: 6 },
    existing: 'c3=S c4=F',
    upstream: 'R[c4F] breach',
  },
  {
    id: 'M2 deadline',
    type: 'Progressive',
    groups: '0{c1,c2} 1{c3,c4} 2{c5,c6}',
    with: { conc: 1, mandatory: 1, mf: 6, dl: '5s' },
    existing: 'c3=S c4=F@5',
    upstream: 'R[] T[c4] breach',
  },
  {
    id: 'M3',
    type: 'Progressive',
    groups: '0{c1,c2} 1{c3,c4} 2{c5,c6}',
    with: { conc: 2, mandatory: 1 },
    existing: 'c3=S c4=S',
    upstream: 'R[c1A c2A]',
  },
  {
    id: 'M4',
    type: 'Progressive',
    groups: '0{c1,c2} 1{c3,c4} 2{c5,c6}',
    with: { conc: 2, mandatory: 1 },
    existing: 'c3=S c4=S c1=P',
    upstream: 'R[c1P]',
    berth: 'R[c1P c2A]',
  },
  {
    id: 'M5',
    type: 'Progressive',
    groups: '0{c1,c2} 1{c3,c4} 2{c5,c6}',
    with: { conc: 2, mandatory: 1, mf: 3, dl: '5s' },
    existing: 'c3=S c4=S c1=F@5 c2=S',
    upstream: 'R[] T[c1]',
    berth: 'R[c5A c6A] T[c1]',
  },
  {
    id: 'M6 canary',
    type: 'Progressive',
    groups: '0prod{c1,c2} 1canary{c3} 2prod{c4}',
    with: { conc: 1, mandatory: 'canary' },
    upstream: 'R[c3A]',
  },
  {
    id: 'M6 prod',
    type: 'Progressive',
    groups: '0prod{c1,c2} 1canary{c3} 2prod{c4}',
    with: { conc: 1, mandatory: 'prod' },
    upstream: 'R[c1A c2A]',
  },
  {
    id: 'M6 nope',
    type: 'Progressive',
    groups: '0prod{c1,c2} 1canary{c3} 2prod{c4}',
    with: { conc: 1, mandatory: 'nope' },
    upstream: 'R[c1A]',
  },
  { id: 'G1', type: 'PerGroup', groups: three, upstream: 'R[c1A c2A c3A]' },
  { id: 'G2', type: 'PerGroup', groups: three, existing: 'c1=S c2=S c3=P', upstream: 'R[c3P]' },
  { id: 'G3', type: 'PerGroup', groups: three, existing: 'c1=S@5 c2=S@5 c3=S@5', upstream: 'R[c4A c5A]' },
  {
    id: 'G3 soak',
    type: 'PerGroup',
    groups: three,
    with: { soak: '30s' },
    existing: 'c1=S@5 c2=S@5 c3=S@5',
    upstream: 'R[c1S c2S c3S] recheck 25s',
  },
  {
    id: 'G4',
    type: 'PerGroup',
    groups: three,
    with: { mf: 0 },
    existing: 'c1=S c2=S c3=F',
    upstream: 'R[c3F] breach',
  },
  {
    id: 'G5',
    type: 'PerGroup',
    groups: three,
    with: { mf: 1 },
    existing: 'c1=S c2=S c3=F',
    upstream: 'R[c3F c4A c5A]',
  },
  {
    id: 'G5 percent',
    type: 'PerGroup',
    groups: three,
    with: { mf: '33%' },
    existing: 'c1=S c2=S c3=F',
    upstream: 'R[c3F c4A c5A]',
  },
  {
    id: 'G6',
    type: 'PerGroup',
    groups: three,
    with: { mf: 1, dl: '5s' },
    existing: 'c1=S c2=S c3=F@5',
    upstream: 'R[c4A c5A] T[c3]',
  },
  {
    id: 'G7',
    type: 'PerGroup',
    groups: '0{c1,c2} 1{c3} 2{c4} 3{c5}',
    with: { mf: 1, dl: '5s' },
    existing: 'c1=S c2=P@9',
    upstream: 'R[c3A c4A] T[c2]',
    berth: 'R[c3A] T[c2]',
  },
  {
    id: 'G8',
    type: 'PerGroup',
    groups: three,
    with: { mf: 1 },
    existing: 'c1=S c2=S c3=S c4=F c5=S',
    upstream: 'R[c4F]',
    berth: 'R[c4F c6A]',
  },
  {
    id: 'G8 deadline',
    type: 'PerGroup',
    groups: three,
    with: { mf: 1, dl: '5s' },
    existing: 'c1=S c2=S c3=S c4=F@5 c5=S',
    upstream: 'R[c6A] T[c4]',
  },
  {
    id: 'G9',
    type: 'PerGroup',
    groups: three,
    with: { mf: 1, dl: '5s' },
    existing: 'c1=S c2=S c3=S c4=F@5 c5=F@5',
    upstream: 'R[] T[c4 c5] breach',
  },
  {
    id: 'G10',
    type: 'PerGroup',
    groups: three,
    with: { mf: 1 },
    existing: 'c1=F c2=S c3=S c4=S c5=S',
    upstream: 'R[c1F c6A]',
  },
  { id: 'G11', type: 'PerGroup', groups: '0{c0,c1} 1{c4}', existing: 'c1=S c4=P', upstream: 'R[c4P c0A]' },
  { id: 'G12', type: 'PerGroup', groups: '0{c1} 2{c2}', existing: 'c1=S', upstream: 'R[]', berth: 'R[c2A]' },
  {
    id: 'G13',
    type: 'PerGroup',
    groups: three,
    with: { mandatory: 2 },
    existing: 'c6=S',
    upstream: 'R[c1A c2A c3A]',
  },
  {
    id: 'G13 failed',
    type: 'PerGroup',
    groups: three,
    with: { mandatory: 2, mf: 1 },
    existing: 'c6=S c1=F',
    upstream: 'R[c1F]',
    berth: 'R[c1F c2A c3A]',
  },
];

const NOW = Date.parse('2026-03-01T12:00:00Z');
const STATUS: Readonly<Record<string, ClusterRolloutStatus['status']>> = {
  A: 'ToApply',
  P: 'Progressing',
  S: 'Succeeded',
  F: 'Failed',
  T: 'TimeOut',
  K: 'Skip',
};

describe('worked examples', () => {
  it.each(EXAMPLES.map((e) => ({ name: e.id, e })))('$name, upstream rules', ({ e }) => {
    expect(run(e, 'upstream')).toBe(e.upstream);
  });

  it.each(EXAMPLES.map((e) => ({ name: e.id, e })))('$name, our rules', ({ e }) => {
    expect(run(e, 'berth')).toBe(e.berth ?? e.upstream);
  });
});

function run(example: Example, rules: RolloutRules): string {
  const plan = planRollout({
    strategy: strategyOf(example),
    groups: groupsOf(example.groups),
    existing: existingOf(example.existing ?? ''),
    nowMs: NOW,
    rules,
  });
  if (!plan.ok) return 'error';
  const { rollout, timedOut, removed, maxFailureBreach, recheckAfterMs } = plan.value;
  const letter = (status: string): string => Object.keys(STATUS).find((key) => STATUS[key] === status) ?? '?';
  // The order of the list carries no meaning: shown as the examples show it, new clusters last.
  const old = rollout.filter((entry) => entry.group === undefined);
  const fresh = rollout.filter((entry) => entry.group !== undefined);
  const parts = [
    `R[${[...old.sort(byName), ...fresh].map((r) => `${r.clusterName}${letter(r.status)}`).join(' ')}]`,
  ];
  if (timedOut.length > 0) parts.push(`T[${timedOut.map((r) => r.clusterName).join(' ')}]`);
  if (removed.length > 0) parts.push(`D[${removed.map((r) => r.clusterName).join(' ')}]`);
  if (maxFailureBreach) parts.push('breach');
  if (recheckAfterMs !== undefined) parts.push(`recheck ${recheckAfterMs / 1000}s`);
  return parts.join(' ');
}

function byName(a: { clusterName: string }, b: { clusterName: string }): number {
  return a.clusterName < b.clusterName ? -1 : 1;
}

function strategyOf({ type, with: given = {} }: Example): RolloutStrategy {
  const { dl, soak, mf, conc, mandatory } = given;
  const config = {
    ...(dl === undefined ? {} : { progressDeadline: String(dl) }),
    ...(soak === undefined ? {} : { minSuccessTime: String(soak) }),
    ...(mf === undefined ? {} : { maxFailures: mf }),
    ...(conc === undefined ? {} : { maxConcurrency: conc }),
    ...(mandatory === undefined
      ? {}
      : {
          mandatoryDecisionGroups: [
            typeof mandatory === 'number' ? { groupIndex: mandatory } : { groupName: mandatory },
          ],
        }),
  };
  if (type === 'All') return { type, all: config };
  return type === 'Progressive'
    ? { type, progressive: config }
    : { type: 'ProgressivePerGroup', progressivePerGroup: config };
}

function groupsOf(text: string | number): readonly RolloutGroup[] {
  if (typeof text === 'number')
    return [{ index: 0, name: '', clusters: Array.from({ length: text }, (_, i) => `c${i + 1}`) }];
  return text.split(' ').map((part) => {
    const [, index, name, clusters] = /^(\d+)(\w*)\{(.*)\}$/.exec(part) ?? [];
    return { index: Number(index), name: name ?? '', clusters: (clusters ?? '').split(',') };
  });
}

function existingOf(text: string): readonly ClusterRolloutStatus[] {
  return text
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => {
      const [, clusterName, status, ago] = /^(\w+)=(\w)(?:@(\d+))?$/.exec(part) ?? [];
      return {
        clusterName: clusterName ?? '',
        status: STATUS[status ?? ''] ?? 'ToApply',
        lastTransitionMs: ago === undefined ? undefined : NOW - Number(ago) * 1000,
      };
    });
}
