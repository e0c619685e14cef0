import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes. Begun last, they would keep one worker busy while the others have nothing left to do. */
const LONGEST = [
  'test/e2e/join-crash.test.ts',
  'test/e2e/leader-election.test.ts',
  'test/e2e/stop-in-time.test.ts',
  'test/property/plan-outcome.test.ts',
  'test/e2e/migration.test.ts',
  'test/property/data-directory-crashes.test.ts',
  'test/e2e/code-addon-crash.test.ts',
  'packages/agent/test/property/agent-histories.test.ts',
  'test/interop/hub-answers.test.ts',
  'test/interop/registration/matrix-real-hub.test.ts',
  'test/interop/ocm-suites.test.ts',
  'test/interop/registration/matrix-embedded-hub.test.ts',
  'test/interop/policies.test.ts',
  'test/interop/restored-hub.test.ts',
  'test/interop/webhooks.test.ts',
  'test/interop/validation.test.ts',
  'test/interop/pull/argocd-pull.test.ts',
];

/** Vitest's order, except that the longest files begin first: a fresh checkout does not know how long files take. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((file) => moduleId.endsWith(file));
      return at < 0 ? LONGEST.length : at;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
