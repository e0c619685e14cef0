import { KeptAnswers } from '@berth/access/server/ask-hub';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Clock } from '@berth/runtime/clock/clock';
import { InputError } from '@berth/runtime/errors';
import type { QuestionThread } from '../../../controllers/dashboard/question-thread.ts';
import type { Assumed } from '../../../controllers/dashboard/what-if-job.ts';
import type { HubInventory } from '../../../controllers/inventory/hub-inventory.ts';
import { readRecordedHubState } from '../../../controllers/previews/recorded-hub-state.ts';
import type { RepositoryLoop } from '../../../controllers/sources/following/repository-loop.ts';
import { type ServeSource, sourceNameOf } from '../../../controllers/sources/progress/source-options.ts';
import { type ChangeView, type Sight, visibleChange } from '../../../core/dashboard/sight.ts';
import type { Plan } from '../../../core/preview/plan.ts';
import { inputKey } from '../../../core/preview/sides/held-objects.ts';
import type { ReportedPlan } from '../../../core/preview/report/report-page.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { PreviewParts } from '../http/controller-http-options.ts';

export interface ChangeReaderOptions {
  readonly clock: Clock;
  readonly api: KubeApi;
  readonly inventory: HubInventory;
  readonly decides: 'own' | 'all';
  readonly questions: Pick<QuestionThread, 'plan'>;
  readonly loops: readonly RepositoryLoop[];
  readonly sources: readonly ServeSource[];
  readonly previews: PreviewParts | undefined;
  readonly budgetOf: (placement: Placement) => RemovalBudget | undefined;
  readonly hubProblem: () => string | undefined;
  /** Grows with every change of the hub. */
  readonly revision: () => number;
}

const FLAGS = ['drain', 'lose', 'taint', 'label', 'claim', 'score', 'add'] as const;
const MAX_ASSUMPTIONS = 20;
/** The plan of a pull request, or of assumptions: what the report shows, as data. */
export class ChangeReader {
  readonly #options: ChangeReaderOptions;
  /** By the state of the hub and the question. Time passes, and scores change, without another state. */
  readonly #plans: KeptAnswers<Plan>;

  constructor(options: ChangeReaderOptions) {
    this.#options = options;
    this.#plans = new KeptAnswers(options.clock);
  }

  /**
   * @param query `pr=12`, `pr=SOURCE/12`, `commit=1a2b3c4`, or assumptions: `drain=C`, `lose=region:eu`, `add=3`, `like=C`
   * @returns undefined if there is no such plan
   * @throws InputError for a query that cannot be answered
   */
  async read(query: URLSearchParams, sight: Sight): Promise<ChangeView | undefined> {
    const [pullRequest, commit] = [query.get('pr'), query.get('commit')];
    const found =
      pullRequest !== null
        ? await this.#pullRequest(pullRequest)
        : commit !== null
          ? await this.#commit(commit)
          : await this.#whatIf(query);
    return found && visibleChange(found, sight, this.#options.inventory.snapshot());
  }

  async #pullRequest(text: string): Promise<ReportedPlan | undefined> {
    const { previews, sources } = this.#options;
    const [, name, number = ''] = /^(?:([a-z0-9-]{1,50})\/)?([1-9]\d{0,15})$/.exec(text) ?? [];
    if (number === '')
      throw new InputError('expected the number of a pull request, or SOURCE/NUMBER', {
        code: 'dashboard.query',
        subject: `pr ${text}`,
      });
    const names = sources.filter(({ preview }) => preview !== undefined).map(sourceNameOf);
    for (const source of names.filter((one) => name === undefined || one === name)) {
      const stored = await previews?.reports.read(source, `${number}.json`);
      if (stored !== undefined) return JSON.parse(stored.toString('utf8')) as ReportedPlan;
    }
    return undefined;
  }

  async #commit(text: string): Promise<ReportedPlan | undefined> {
    if (!/^[0-9a-f]{7,64}$/.test(text))
      throw new InputError('expected the id of a commit, or its first 7 digits or more', {
        code: 'dashboard.query',
        subject: `commit ${text}`,
      });
    const found = this.#options.previews?.findCommit(text);
    if (found === undefined)
      throw new InputError('no pull request with a plan has this commit as its head, or was merged as it', {
        ...{ code: 'dashboard.query', subject: `commit ${text}` },
        hint: 'what commits moved is in the history of each placement',
      });
    return this.#pullRequest(`${found.source}/${found.number}`);
  }

  async #whatIf(query: URLSearchParams): Promise<ReportedPlan> {
    const assumed = FLAGS.flatMap((flag) => query.getAll(flag).map((value): Assumed => ({ flag, value })));
    const like = query.get('like') ?? undefined;
    if (assumed.length === 0 || assumed.length > MAX_ASSUMPTIONS)
      throw new InputError(
        `expected pr=NUMBER, commit=ID, or 1 to ${MAX_ASSUMPTIONS} of drain=CLUSTER, lose=KEY:VALUE, add=NUMBER, taint, label, claim, score`,
        { code: 'dashboard.query', subject: 'This change' },
      );
    const plan = await this.#planned({ assumed, like });
    return {
      subject: assumed.map(({ flag, value }) => `${flag} ${value}`).join(', '),
      outcome: { kind: 'planned', plan, problems: [], summaryOnly: false },
      approvals: [],
    };
  }

  #planned(asked: {
    readonly assumed: readonly Assumed[];
    readonly like: string | undefined;
  }): Promise<Plan> {
    const { revision, questions } = this.#options;
    return this.#plans.get(JSON.stringify([revision(), asked]), () =>
      questions.plan(async () => ({ kind: 'what-if', ...(await this.#question(asked)) })),
    );
  }

  async #question(asked: { readonly assumed: readonly Assumed[]; readonly like: string | undefined }) {
    const { api, inventory, decides, budgetOf, loops, hubProblem } = this.#options;
    const hub = inventory.snapshot();
    const { records } = await readRecordedHubState(api, []);
    const problem = hubProblem();
    const budgets = hub.placements.flatMap((placement) => {
      const budget = budgetOf(placement);
      return budget === undefined ? [] : [[namespacedName(placement.metadata), budget] as const];
    });
    return {
      hub,
      job: {
        ...{ ...asked, decides, budgets: new Map(budgets) },
        records: 'of' in records ? records.of : new Map(),
        notes: [
          ...(problem === undefined ? [] : [`The last known state of the hub counts: ${problem}.`]),
          ...('problem' in records ? [`Earlier removals are not known: ${records.problem}`] : []),
        ],
      },
      workloads: loops
        .flatMap((loop) => loop.status())
        .flatMap(({ content }) => content?.objects ?? [])

        // These are taken from the hub.
        .filter(({ object }) => inputKey(object) === undefined),
    };
  }
}
