import { CONFIG_MAP } from '@berth/kube/model/kinds';
import {
  mergeCause,
  type MergeCause,
  type MergeFacts,
  type OtherMerge,
} from '../../../core/preview/comment/merge-cause.ts';
import type { MergeDifference } from '../../../core/preview/comment/merge-comparison.ts';
import { RECORDS_NAME, recordsOf } from '../../../core/publish/record/compact-record.ts';
import type { PreviewMemory, SeenMerge } from './preview-memory.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';

/** A merged pull request. */
export interface MergedPullRequest {
  readonly number: number;
  readonly memory: PreviewMemory;
  readonly merge: SeenMerge;
  /** Full id of the commit that the hub follows. */
  readonly followed: string;
}

/** Finds why what is published differs from the plan of a merged pull request. */
export class MergeCauses {
  readonly #options: PullRequestPreviewsOptions;
  readonly #pull: MergedPullRequest;
  /** The same for all differences. */
  #shared: Promise<Omit<MergeFacts, 'publications'>> | undefined;

  constructor(options: PullRequestPreviewsOptions, pull: MergedPullRequest) {
    this.#options = options;
    this.#pull = pull;
  }

  async of(difference: MergeDifference): Promise<MergeCause | undefined> {
    const { placement } = difference;
    const namespace = placement.slice(0, placement.indexOf('/'));
    const records = await this.#options.hub.get(CONFIG_MAP, { namespace, name: RECORDS_NAME });
    const data = (records?.['data'] ?? {}) as Readonly<Record<string, string>>;
    const publications = recordsOf(data).filter((record) => record.placement === placement);
    this.#shared ??= this.#readShared();
    return mergeCause(difference, { ...(await this.#shared), publications });
  }

  async #readShared(): Promise<Omit<MergeFacts, 'publications'>> {
    const { repository } = this.#options;
    const { number, memory, merge, followed } = this.#pull;
    const { commit, seenAtMs, state } = merge;
    const between = (from: string, to: string) => mergesBetween(this.#options, { from, to, except: number });
    return {
      ...{ commit, seenAtMs },
      earlier: await between(memory.base, commit),
      later: await between(commit, followed),
      baseMoved: memory.tree !== undefined && (await repository.treeOf(commit)) !== memory.tree,
      fleetChanged: memory.changesFleet !== true && inventoryOf(state) !== inventoryOf(memory.planned?.state),
    };
  }
}

/** The first digest of a state of the hub is the one of clusters, sets and scores; the other one changes by the merge. */
function inventoryOf(state: string | undefined): string | undefined {
  return state?.split(' ', 1)[0];
}

/** Only so many pull requests are looked at, those that were merged last first. */
const MAX_MERGES = 50;

/** Commits of the base branch, full ids. */
interface Between {
  readonly from: string;
  readonly to: string;
  /** The pull request itself. */
  readonly except: number;
}

/** The pull requests whose merge is in the history of `to` and not in that of `from`, the latest first. */
export async function mergesBetween(
  { memories, repository }: Pick<PullRequestPreviewsOptions, 'memories' | 'repository'>,
  { from, to, except }: Between,
): Promise<readonly OtherMerge[]> {
  if (from === to) return [];
  // The merge of one may be reported after the base moved. Then the base has its head.
  const merged = memories
    .keys()
    .flatMap((key) => {
      const memory = memories.get(key);
      if (memory === undefined || memory.base === '' || Number(key) === except) return [];
      const { commit, seenAtMs } = memory.merge ?? { commit: memory.head, seenAtMs: Infinity };
      return commit === '' ? [] : [{ number: Number(key), memory, commit, seenAtMs }];
    })
    .toSorted((a, b) => (a.seenAtMs === b.seenAtMs ? b.number - a.number : b.seenAtMs - a.seenAtMs))
    .slice(0, MAX_MERGES);
  const found: OtherMerge[] = [];
  for (const { number, memory, commit } of merged) {
    // A commit that was never fetched is not known to be in a history.
    const isIn = (of: string): Promise<boolean> => repository.holds(of, commit).catch(() => false);
    if (!(await isIn(to)) || (await isIn(from))) continue;
    found.push({ number, placements: memory.expected.map(({ placement }) => placement) });
  }
  return found;
}
