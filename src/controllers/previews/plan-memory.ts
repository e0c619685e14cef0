import type { ParsedManifest } from '../../adapters/yaml/parse-manifests.ts';
import type { LastLists } from '@berth/runtime/lists/once-per-list';
import type { SideDecider } from '../../core/preview/sides/side-decider.ts';
import type { SourceChecker } from '../../core/sources/source-checker.ts';
import type { ParsedFiles } from '../sources/parsing/parsed-files.ts';
import type { KeptBases } from '../sources/reading/kept-bases.ts';
import type { RenderedSets } from './rendered-sets.ts';

/** What is kept from plan to plan. It makes the next plan faster and does not change it. */
export interface PlanMemory {
  /** Parsed files. Absent: none. */
  readonly files?: ParsedFiles | undefined;
  /** The commits that the bases of earlier plans were. */
  readonly bases?: Pick<KeptBases, 'of' | 'keep'> | undefined;
  /** The decider of earlier plans. */
  readonly decider?: SideDecider | undefined;
  /** The objects of the last base of each source. */
  readonly baseLists?: LastLists<ParsedManifest> | undefined;
  /** The ApplicationSets that earlier plans rendered. */
  readonly rendered?: RenderedSets | undefined;
  /** The checker of earlier states of a source. Absent: a new one. */
  readonly checkerOf?: ((source: string) => SourceChecker) | undefined;
}
