/** Where what follows leaves the recording on purpose, or because of the server it runs on. */
export interface Deviation {
  readonly history: string;
  /** What may differ; matched against `place: got …, recorded …`. */
  readonly differences: RegExp;
  readonly reason: string;
  /** The embedded hub is not (yet) as a full Kubernetes API server here: no fault when it turns out to be. */
  readonly server?: true;
}

const LABELS = 'labels of a work are kept equal on its AppliedManifestWork, not only copied when it is made';
const TOUCHED = /^applied labels: got {"again":"1"}/;

/** Ours: each must be needed, an entry that excuses nothing fails. */
const DELIBERATE: readonly Deviation[] = [
  ...[
    'update-role',
    'update-widget',
    'update-policies',
    'ssa-conflict-later',
    'ssa-ignore-change',
    'ssa-ignore-both',
    'executor-none',
    'complete-cel',
  ].map((history) => ({ history, differences: TOUCHED, reason: LABELS })),
  {
    history: 'complete-cel',
    differences: /^work (condition|manifest \d condition) Applied|widgets\/[uv]\.spec\.replicas/,
    reason:
      'a work whose completing rule was removed is applied again, not left behind until its next change',
  },
  {
    history: 'feedback-duplicate',
    differences: /Available|StatusFeedbackSynced|feedback/,
    reason:
      'of two values with one name the first is reported and the second named as an error; the status can be written',
  },
  {
    history: 'cel-reserved',
    differences: /condition (Applied|Available) /,
    reason: 'rules with the name of a condition of the agent do not take it over',
  },
];

/** The server's. */
const SERVER: readonly Deviation[] = [
  { history: 'update-job', differences: /./, reason: 'the template of a Job can be changed', server: true },
  {
    history: 'update-classes',
    differences: /Applied|priorityclasses/,
    reason: 'the value of a PriorityClass can be changed',
    server: true,
  },
  {
    history: 'update-cabundle',
    differences: /./,
    reason: 'webhook configurations are not served',
    server: true,
  },
  {
    history: 'feedback-deployment',
    differences: /manifest 0 feedback/,
    reason: 'a status keeps zeros that a full server leaves out',
    server: true,
  },
  {
    history: 'feedback-pod',
    differences: /manifest 1 feedback/,
    reason: 'a new DaemonSet has no status',
    server: true,
  },
];

/** Histories in which somebody else changes or deletes what a work applied. */
const DRIFT: readonly Deviation[] = [
  'update-configmap',
  'update-role',
  'update-widget',
  'update-policies',
  'update-cabundle',
  'update-scaler',
  'createonly',
  'ssa-conflict-later',
  'ssa-drift',
  'readonly',
  'fail-terminating',
  'stale-recreated',
  'delete-on-cluster',
  'delete-applied',
  'delete-already-gone',
  'feedback-deployment',
  'feedback-change',
  'cel-gone',
].map((history) => ({ history, differences: /./, reason: 'drift is corrected when seen', server: true }));

/** @param drift how the agent under test deals with drift; the recorded one does not watch for it */
export function deviations(drift: 'watch' | 'resync'): readonly Deviation[] {
  return [...DELIBERATE, ...SERVER, ...(drift === 'watch' ? DRIFT : [])];
}
