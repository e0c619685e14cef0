/**
 * Where what follows leaves the recording on purpose. Each place is named, and each named place must differ: a deviation that
 * is no longer one fails as a new one does. Nothing is excused because of the server the histories run on.
 */
export interface Deviation {
  readonly history: string;
  readonly reason: string;
  /** By the number of the step: places as `differences` names them, without the path up to the history's namespace. */
  readonly at: Readonly<Record<number, readonly string[]>>;
}

/** A condition that says something else: on the work, or on a manifest. */
const says = (type: string, of: number | 'work' = 'work'): readonly string[] =>
  ['status', 'reason', 'message'].map((field) => `${placeOf(of)} condition ${type} ${field}`);

const placeOf = (of: number | 'work'): string => (of === 'work' ? of : `work manifest ${of}`);

const LABELS = 'labels of a work are kept equal on its AppliedManifestWork, not only copied when it is made';
const LABELLED: Readonly<Record<string, readonly number[]>> = {
  'update-role': [4],
  'update-widget': [4, 5],
  'update-policies': [4],
  'ssa-conflict-later': [5],
  'ssa-ignore-change': [3, 4, 5, 6],
  'ssa-ignore-both': [3, 4],
  'executor-none': [4],
  'complete-cel': [6],
};

const TAKEN_OVER = [
  ...[...says('Applied'), ...says('Available'), ...says('Applied', 0), ...says('Available', 0)],
  'work manifest 0 condition Available observedGeneration',
];

const NOT_LOOKED_AT =
  'nothing is said about an object that the executor may not get, not even whether it exists';
const UNSEEN = [...says('Available'), ...says('Available', 0)];

const ALWAYS: readonly Deviation[] = [
  ...Object.entries(LABELLED).map(([history, steps]) => ({
    history,
    reason: LABELS,
    at: Object.fromEntries(steps.map((step) => [step, ['applied labels']])),
  })),
  {
    history: 'complete-cel',
    reason:
      'a work whose completing rule was removed is applied again, not left behind until its next change',
    at: {
      6: [
        'work condition Applied observedGeneration',
        ...[0, 1].flatMap((manifest) => [
          `work manifest ${manifest} condition Applied observedGeneration`,
          `work manifest ${manifest} condition Applied moved`,
        ]),
        'widgets/u.spec.replicas',
        'widgets/v.spec.replicas',
      ],
    },
  },
  {
    history: 'feedback-duplicate',
    reason:
      'of two values with one name the first is reported and the second named as an error; the status can be written',
    at: {
      1: [
        'work condition Available',
        'work manifest 0 condition Available',
        'work manifest 0 condition StatusFeedbackSynced',
        'work manifest 0 feedback',
      ],
    },
  },
  {
    history: 'executor-none',
    reason: NOT_LOOKED_AT,
    at: { 1: UNSEEN, 3: UNSEEN },
  },
  {
    history: 'executor-readonly',
    reason: NOT_LOOKED_AT,
    at: { 2: [...UNSEEN, 'work manifest 0 condition StatusFeedbackSynced'] },
  },
  {
    history: 'executor-mixed',
    reason: NOT_LOOKED_AT,
    at: { 3: [...UNSEEN, ...says('Available', 2), ...says('Available', 3)] },
  },
  {
    history: 'update-job',
    reason: 'what the API server gave a Job stays, so that its other fields can be changed',
    at: { 3: [...says('Applied'), ...says('Applied', 0), 'jobs/j.spec.parallelism'] },
  },
  {
    history: 'ssa-from-update',
    reason:
      'what the agent wrote with an update is taken over by its first server-side apply, and is no conflict',
    at: {
      2: [
        ...[...says('Applied'), ...says('Applied', 0)],
        ...['.spec.replicas', '.spec.note', ' apply managers'].map((what) => `widgets/w${what}`),
      ],
      3: ['widgets/w.spec.note'],
    },
  },
  {
    history: 'cel-reserved',
    reason: 'rules with the name of a condition of the agent do not take it over',
    at: { 1: TAKEN_OVER, 2: TAKEN_OVER },
  },
];

const UNDONE = 'what somebody changed is put right when it is seen';
const BACK = 'what somebody deleted comes back when it is seen';
const REFUSED = 'a field that another manager took is reported when it is seen, not with the next change';
const AVAILABLE = [...says('Available'), ...says('Available', 0)];
const CONFLICT = [...says('Applied'), ...says('Applied', 0), 'work manifest 0 condition Applied moved'];

/** Somebody else changes or deletes what a work applied; the recorded agent does not watch for it. */
const DRIFT: readonly Deviation[] = [
  { history: 'update-configmap', reason: UNDONE, at: { 3: ['configmaps/a.data.x', 'configmaps/a.data.z'] } },
  { history: 'update-role', reason: UNDONE, at: { 3: ['roles/r.rules'] } },
  {
    history: 'update-widget',
    reason: UNDONE,
    at: { 3: ['replicas', 'colour', 'extra'].map((field) => `widgets/w.spec.${field}`) },
  },
  {
    history: 'update-policies',
    reason: UNDONE,
    at: { 3: ['networkpolicies/n.spec.podSelector.matchLabels.t'] },
  },
  {
    history: 'update-cabundle',
    reason: UNDONE,
    at: { 2: ['configmaps/a.data.extra'], 3: ['configmaps/a.data.extra'] },
  },
  { history: 'update-scaler', reason: UNDONE, at: { 2: ['deployments/d.spec.replicas'] } },
  {
    history: 'createonly',
    reason: BACK,
    at: {
      4: [...AVAILABLE, 'configmaps/a'],
      5: ['configmaps/a.data.x', 'configmaps/a recreated'],
    },
  },
  {
    history: 'ssa-conflict-later',
    reason: REFUSED,
    at: {
      2: CONFLICT,
      // The conflict ends when the other manager gives up the field: that is seen too.
      4: [...CONFLICT, 'widgets/w.spec.replicas', 'widgets/w apply managers'],
      5: ['work manifest 0 condition Applied moved'],
    },
  },
  { history: 'ssa-drift', reason: REFUSED, at: { 2: CONFLICT } },
  {
    history: 'readonly',
    reason: 'an object that is only read is listed when it appears, not with the next change of the work',
    at: { 2: ['applied appliedResources'], 3: ['applied appliedResources'] },
  },
  {
    history: 'fail-terminating',
    reason: BACK,
    at: { 4: [...AVAILABLE, 'configmaps/a'], 5: ['configmaps/a recreated'] },
  },
  {
    history: 'stale-recreated',
    reason: `${BACK}: nobody else can take its name meanwhile, and it is the work's own when it leaves the work`,
    at: {
      2: [...says('Available'), ...says('Available', 1), 'configmaps/b'],
      3: [
        'answer',
        ...[' owners', '.data.x', '.data.theirs', ' recreated'].map((what) => `configmaps/b${what}`),
      ],
      4: ['configmaps/b'],
    },
  },
  {
    history: 'delete-on-cluster',
    reason: BACK,
    at: { 2: [...AVAILABLE, 'configmaps/a'], 3: ['configmaps/a recreated'] },
  },
  {
    history: 'delete-applied',
    reason: `${BACK}, the AppliedManifestWork too`,
    at: { 2: [...AVAILABLE, 'applied', 'configmaps/a'], 3: ['configmaps/a recreated'] },
  },
  {
    history: 'delete-already-gone',
    reason: BACK,
    at: { 3: [...AVAILABLE, ...says('Available', 1), 'configmaps/a', 'widgets/w'] },
  },
  {
    history: 'feedback-deployment',
    reason: BACK,
    at: {
      5: [
        ...AVAILABLE,
        'deployments/d',
        // The new object has no status yet; the recorded agent keeps the values of the old one.
        'work manifest 0 feedback',
        'work manifest 0 condition StatusFeedbackSynced moved',
      ],
    },
  },
  { history: 'feedback-change', reason: BACK, at: { 6: [...AVAILABLE, 'widgets/w'] } },
  {
    history: 'cel-gone',
    reason: BACK,
    at: { 2: [...AVAILABLE, 'widgets/w'], 3: ['widgets/w recreated'] },
  },
];

/** @param drift how the agent under test deals with drift */
export function deviations(drift: 'watch' | 'resync'): readonly Deviation[] {
  return drift === 'watch' ? [...ALWAYS, ...DRIFT] : ALWAYS;
}

/** `step place` of every difference that is meant, for one history. */
export function meantDifferences(history: string, drift: 'watch' | 'resync'): readonly string[] {
  return deviations(drift)
    .filter((deviation) => deviation.history === history)
    .flatMap(({ at }) =>
      Object.entries(at).flatMap(([step, places]) => places.map((place) => `${step} ${place}`)),
    );
}

/**
 * The place of a difference, as deviations name it.
 * @param difference `place: got …, recorded …`
 */
export function placeOfDifference(history: string, difference: string): string {
  const place = difference.split(': got ', 1)[0] ?? '';
  return place.replace(new RegExp(`^/.*/namespaces/h-${history}/`), '');
}
