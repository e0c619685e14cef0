import type { ParsedManifest } from '../../adapters/yaml/parse-manifests.ts';
import type { LastLists } from '../../core/once-per-list.ts';
import type { SideDecider } from '../../core/preview/sides/side-decider.ts';
import type { SourceChecker } from '../../core/sources/source-checker.ts';
import type { ParsedFiles } from '../sources/parsing/parsed-files.ts';
import type { RenderedSets } from './rendered-sets.ts';

/** What is kept from plan to plan: it makes the next one faster, and no other. */
export interface PlanMemory {
  readonly files: ParsedFiles;
  /** One that decided an earlier plan. */
  readonly decider?: SideDecider | undefined;
  /** The objects of the base of each source. */
  readonly baseLists?: LastLists<ParsedManifest> | undefined;
  readonly rendered?: RenderedSets | undefined;
  /** One that checked an earlier state of the source. Absent: a new one. */
  readonly checkerOf?: ((source: string) => SourceChecker) | undefined;
}
