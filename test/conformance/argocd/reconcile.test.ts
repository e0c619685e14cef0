import { describe, expect, it } from 'vitest';
import { recordedInputs } from '../../../src/app/cli/commands/argocd/cases/recorded-inputs.ts';
import { generateApplications } from '@berth/applicationset/generate-applications';
import { reconcile } from '@berth/applicationset/reconcile/reconcile';
import { readApplicationSetCases } from './compare-result.ts';
import {
  MESSAGES_SINCE_3_6,
  NAMELESS,
  namelessProblem,
} from '../../../packages/applicationset/test/conformance/argocd/since-3-6.ts';

const PROJECTS = new Set(['default', 'my-project', 'platform', 'team-a']);

/**
 * The recording stored these ApplicationSets with Argo CD's types, which lose an empty selector. An API server keeps it, and so does what
 * was recorded as the result.
 */
const LOST_SELECTOR = ['decisions-0244', 'decisions-0248'];

const CASES = readApplicationSetCases().flatMap(({ recorded }) => {
  return recorded.reconcile === undefined || LOST_SELECTOR.includes(recorded.id)
    ? []
    : [[recorded.id, recorded, recorded.reconcile] as const];
});

describe('the controller does what Argo CD does', () => {
  it.each(CASES)('%s', (_id, recorded, wanted) => {
    const inputs = recordedInputs(recorded);
    const generated = generateApplications(recorded.applicationSet, inputs);
    const done = reconcile(recorded.applicationSet, generated, { inputs, projects: PROJECTS });
    const given = JSON.parse(JSON.stringify(done)) as unknown;
    if (!NAMELESS.includes(recorded.id)) return expect(given).toEqual(asDone(wanted));
    const { name } = (recorded.applicationSet as { readonly metadata: { readonly name: string } }).metadata;
    const message = namelessProblem(name);
    expect(given).toMatchObject({
      conditions: [{ reason: 'ApplicationValidationError', message }, { status: 'True' }, { message }],
      created: [],
      refused: {},
      requeueAfterSeconds: 180,
    });
  });
});

/** What is absent in a record is empty; an error that is the same as in the condition is written once. */
function asDone(wanted: Readonly<Record<string, unknown>>): unknown {
  const conditions = (wanted['conditions'] as readonly { readonly message: string }[]).map((condition) => ({
    ...condition,
    message: MESSAGES_SINCE_3_6.get(condition.message) ?? condition.message,
  }));
  return {
    refused: {},
    specAsCreated: {},
    ...wanted,
    conditions,
    ...(wanted['error'] === 'as in ErrorOccurred' ? { error: conditions[0]?.message } : {}),
  };
}
