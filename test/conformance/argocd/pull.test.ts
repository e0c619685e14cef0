import { describe, expect, it } from 'vitest';
import { PULL_CLUSTER_ANNOTATION, PULL_LABEL } from '../../../src/core/argocd/pull/pull-target.ts';
import { planPull, type PullPlan } from '../../../src/core/argocd/pull/plan-pull.ts';
import { planApplicationStatus } from '../../../src/core/argocd/pull/plan-status.ts';
import { type PullFeedback, readPullFeedback } from '../../../src/core/argocd/pull/read-pull-feedback.ts';
import type { Application } from '../../../src/core/argocd/argocd-kinds.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { type RecordedPull, recordedPulls, stored } from './recorded-pull.ts';

const RECORDED = recordedPulls();
const CLUSTERS = new Set(['cluster1', 'cluster2', 'cluster3']);
const takesWork = (name: string): boolean => CLUSTERS.has(name);
const name = (work: ManifestWork): string => `${work.metadata.namespace}/${work.metadata.name}`;

/** The works after a plan, as a hub stores them. */
function worksAfter(plan: PullPlan, before: readonly ManifestWork[]): readonly ManifestWork[] {
  const written = plan.write.type === 'none' ? [] : [plan.write.work];
  const changed = new Set([...plan.leaving.map(({ work }) => name(work)), ...written.map(name)]);
  return [...before.filter((work) => !changed.has(name(work))), ...written]
    .map(stored)
    .sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

function plan(application: Application | undefined, works: readonly ManifestWork[] = []) {
  return planPull({ application, works, takesWork });
}

/** The Application before the step: with the label that the step took, or with another cluster. */
function earlier({ application, step, manifestWorks }: RecordedPull): Application {
  const { labels, annotations } = application.metadata;
  const others = manifestWorks.filter(
    ({ metadata }) => metadata.namespace !== annotations?.[PULL_CLUSTER_ANNOTATION],
  );
  const before = others[0]?.metadata.namespace;
  const wasPulled = step.startsWith('changed: pull') && manifestWorks.length > 0;
  return {
    ...application,
    metadata: {
      ...application.metadata,
      labels: { ...labels, ...(wasPulled && { [PULL_LABEL]: 'true' }) },
      annotations: {
        ...annotations,
        ...(step === 'changed: other cluster' &&
          before !== undefined && { [PULL_CLUSTER_ANNOTATION]: before }),
      },
    },
  };
}

function reportOf({ feedback }: RecordedPull): PullFeedback {
  const manifests = [{ resourceMeta: { ordinal: 0 }, statusFeedback: { values: feedback } }];
  return readPullFeedback({ status: { resourceStatus: { manifests } } });
}

/** Argo CD's own status says when the operation began: nobody else may say it. */
const isTimed = ({ feedback }: RecordedPull): boolean =>
  feedback.some(({ name: value }) => value === 'operationStateStartedAt');

/** Where we do better than upstream, by id of the line, with the reason. README.md repeats them. */
const BETTER: Readonly<Record<string, string>> = {
  'delete-54': 'the work of an Application that is gone goes at once; upstream’s waits for its sweeper',
  'delete-120': 'the work on the cluster before goes when the Application moves',
};

const written = RECORDED.filter(({ step }) => step === 'created' || step.startsWith('changed'));

describe('recorded pull model: works', () => {
  it.each(written)('$id ($step)', (line) => {
    const { application, manifestWorks, step } = line;
    const before = step === 'created' ? [] : worksAfter(plan(earlier(line)), []);
    const after = worksAfter(plan(application, before), before);
    const cluster = application.metadata.annotations?.[PULL_CLUSTER_ANNOTATION];
    // Better: the work on the cluster before goes when the Application moves.
    const wanted =
      step === 'changed: other cluster'
        ? manifestWorks.filter(({ metadata }) => metadata.namespace === cluster)
        : manifestWorks;
    if (application.operation === undefined) return expect(after).toEqual(wanted);
    // Better: the work carries the operation until the cluster has finished it, and is then as recorded.
    expect(after.map(({ spec }) => spec?.workload?.manifests?.[0]?.['operation'])).toEqual(
      wanted.map(() => application.operation),
    );
    const { operation: _done, ...rest } = application;
    return expect(worksAfter(plan(rest, after), after)).toEqual(wanted);
  });

  it('leaves the Application as it is', () => {
    for (const { application } of written) {
      const before = JSON.stringify(application);
      plan(application);
      expect(JSON.stringify(application)).toBe(before);
    }
  });
});

describe('recorded pull model: deletion', () => {
  it.each(RECORDED.filter(({ step }) => step === 'deleted'))(
    '$id',
    ({ id, application, left, manifestWorks }) => {
      const before = worksAfter(plan(application), []);
      const now = left === null ? undefined : { ...application, metadata: left };
      const after = worksAfter(plan(now, before), before);
      expect(after.map(name)).toEqual(BETTER[id] === undefined ? manifestWorks.map(name) : []);
    },
  );
});

/** Two reports came one after the other; the status that was recorded for both is that of the second. */
const BEHIND = [
  'feedback-x.y-216-79871',
  'feedback-very-long-application-name-that-goes-on-and-on-until-it-is-sixty-168-00a2d',
];

describe('recorded pull model: status', () => {
  /** Of two reports of one work: upstream’s status was still that of the other. */
  const isBehind = (line: RecordedPull): boolean => {
    const { health, sync } = reportOf(line);
    const isTwice = lines.some((other) => other !== line && other.id === line.id);
    return isTwice && sync !== undefined && health !== line.applicationStatus?.health?.status;
  };
  const lines = RECORDED.filter(({ step }) => step === 'feedback');
  it.each(lines)('$id', (line) => {
    const { applicationStatus } = line;
    const application: Application = { apiVersion: '', kind: 'Application', metadata: { name: 'web' } };
    const read = reportOf(line);
    const patch = planApplicationStatus(application, undefined, read, []);
    const isKnown = read.health !== undefined && read.sync !== undefined;
    if (!isKnown) return expect(patch).toBeUndefined();
    if (isBehind(line))
      return expect(patch?.status).toMatchObject({
        health: { status: read.health },
        sync: { status: read.sync },
      });
    const { operationState, ...rest } = applicationStatus ?? {};
    // Better: no time is invented. Upstream writes the present.
    return expect(patch?.status).toEqual({ ...rest, ...(isTimed(line) && { operationState }) });
  });

  it('keeps what is known when a report lacks the health or the sync status', () => {
    const unknown = lines.filter(({ applicationStatus }) => applicationStatus === null);
    expect(unknown.length).toBeGreaterThan(20);
    expect(lines.filter(isBehind).map(({ id }) => id)).toEqual(BEHIND);
  });
});

it('covers every line but that of the cluster secrets, which is not of this controller', () => {
  const steps = RECORDED.filter(
    ({ step }) => !['created', 'deleted', 'feedback'].includes(step) && !step.startsWith('changed'),
  );
  expect(RECORDED).toHaveLength(311);
  expect(steps.map(({ step }) => step)).toEqual(['cluster secrets']);
});
