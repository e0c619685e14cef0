import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes. Begun last, they would keep one worker busy while the other has nothing left to do. */
const LONGEST = [
  'test/interop/ocm-suites.test.ts',
  'test/property/plan-outcome.test.ts',
  'test/interop/argocd/generators-real-hub.test.ts',
  'test/interop/argocd/generators.test.ts',
  'test/interop/restored-hub.test.ts',
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
