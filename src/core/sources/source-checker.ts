import { changedPositions } from '@berth/kube/model/changed-positions';
import type { SourceObject } from '@berth/kube/model/source-object';
import { checkSources } from './check-sources.ts';
import type { SourceFinding } from './source-finding.ts';
import { SourceReferences } from './source-references.ts';

interface Checked {
  readonly objects: readonly SourceObject[];
  readonly references: SourceReferences;
  readonly findings: readonly SourceFinding[];
}

/**
 * Checks successive states of a fleet. If only the contents of a few objects changed, it checks only these.
 */
export class SourceChecker {
  #last: Checked | undefined;

  /** @returns the findings of `checkSources`, in any order */
  check(objects: readonly SourceObject[]): readonly SourceFinding[] {
    const last = this.#last;
    const changed = last && changedPositions(last.objects, objects);
    this.#last =
      last === undefined || changed === undefined ? checkAll(objects) : checkAgain(last, objects, changed);
    return this.#last.findings;
  }
}

function checkAll(objects: readonly SourceObject[]): Checked {
  const references = new SourceReferences(objects);
  return { objects, references, findings: checkSources(objects, references) };
}

function checkAgain(last: Checked, objects: readonly SourceObject[], changed: readonly number[]): Checked {
  const { references } = last;
  const replaced = new Set(changed.map((at) => last.objects[at]));
  const fresh = changed.map((at) => objects[at] as SourceObject);
  const kept = last.findings.filter(({ source }) => !replaced.has(source));
  return { objects, references, findings: [...kept, ...checkSources(fresh, references)] };
}
