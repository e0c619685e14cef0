import fc from 'fast-check';

/*
 * What Git and the outside snapshot may say next, as data. A state is what a repository declares; a commit replaces some of it.
 */

export const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'];
export const PLACEMENTS = ['api', 'batch', 'cache', 'web'];
export const REPLICA_SETS = ['front', 'back'];
export const SETS = ['prod', 'blue', 'eu'] as const;
export const FOLDERS = ['apps/placements', 'moved'] as const;

export const USAGE = {
  scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } },
  weight: 2,
};

const weights = (balance: number, steady: number, usage: 0 | 2) => ({
  mode: 'Exact',
  configurations: [
    { scoreCoordinate: { type: 'BuiltIn', builtIn: 'Balance' }, weight: balance },
    { scoreCoordinate: { type: 'BuiltIn', builtIn: 'Steady' }, weight: steady },
    ...(usage === 0 ? [] : [USAGE]),
  ],
});

const gone = <T>(present: fc.Arbitrary<T>, freq: number): fc.Arbitrary<T | undefined> =>
  fc.option(present, { freq, nil: undefined });

const clusterState = fc.record({
  region: fc.constantFrom('eu', 'us'),
  tainted: fc.constantFrom(false, false, false, true),
  set: fc.constantFrom('prod', 'prod', 'prod', 'blue', 'none'),
});
const placementState = fc.record({
  numberOfClusters: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 4 }),
  policy: fc.constantFrom(undefined, weights(1, 0, 0), weights(1, 3, 0), weights(3, 1, 0), weights(1, 1, 2)),
  region: fc.constantFrom(undefined, undefined, 'eu'),
  sets: fc.constantFrom<readonly (typeof SETS)[number][]>(['prod'], ['prod'], ['prod', 'blue'], ['eu'], []),
  budget: fc.constantFrom(undefined, '1', '50%', '100%'),
  /** The folder that its file is in: with two sources, each belongs to one of them. */
  folder: fc.constantFrom<(typeof FOLDERS)[number]>('apps/placements', 'apps/placements', 'moved'),
});
const replicaSetState = fc.record({
  placements: fc.subarray(PLACEMENTS, { minLength: 1, maxLength: 2 }),
  value: fc.constantFrom('1', '2'),
});

/** What the score provider of a cluster says, outside of Git. */
const score = fc.record({
  value: fc.integer({ min: -100, max: 100 }),
  validUntil: fc.constantFrom(undefined, '2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z'),
});

/** A file that cannot be understood: what it declared before stays. */
const typo = fc.constantFrom(undefined, undefined, undefined, 'kind', 'schema', 'empty');

export const commit = fc.record({
  clusters: fc.dictionary(fc.constantFrom(...CLUSTERS), gone(clusterState, 9), { maxKeys: 3 }),
  sets: fc.dictionary(fc.constantFrom(...SETS), fc.constantFrom(true, true, true, false), { maxKeys: 1 }),
  bindings: fc.dictionary(fc.constantFrom(...SETS), fc.constantFrom(true, true, true, false), { maxKeys: 1 }),
  placements: fc.dictionary(fc.constantFrom(...PLACEMENTS), gone(placementState, 6), { maxKeys: 2 }),
  replicaSets: fc.dictionary(fc.constantFrom(...REPLICA_SETS), gone(replicaSetState, 6), { maxKeys: 1 }),
  works: fc.dictionary(fc.constantFrom(...CLUSTERS), fc.boolean(), { maxKeys: 1 }),
  typo: fc.record({ what: typo, placement: fc.constantFrom(...PLACEMENTS) }),
  scores: fc.dictionary(fc.constantFrom(...CLUSTERS), score, { maxKeys: 1 }),
  /** It brings the release of what is held: of placements, of deletions. */
  releases: fc.constantFrom('none', 'none', 'placements', 'deletions', 'all'),
  approval: fc.constantFrom('none', 'none', 'none', 'right', 'other'),
  /** When the controller is killed. `writes`: that many after the merge; the last one is carried out, or not. */
  kill: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({
        when: fc.constantFrom<'before' | 'during' | 'after'>('before', 'during', 'during', 'after'),
        writes: fc.integer({ min: 1, max: 25 }),
        lastIsDone: fc.boolean(),
      }),
    },
  ),
});
export type Commit = typeof commit extends fc.Arbitrary<infer T> ? T : never;

/** The status that Git records of a cluster and its score, for a hub without agents. */
const recordedState = fc.record({
  cpu: fc.option(fc.integer({ min: -100, max: 100 }), { nil: undefined, freq: 3 }),
  memory: fc.constantFrom(undefined, '8Gi', '32Gi', '64Gi'),
});

/**
 * What a hub does with a commit beside what Git says. It is drawn apart, so that a kept seed stays what it was.
 * `refused`: an object that the hub refuses because of a misspelt field, a null in an undeclared field, or a value that its
 * schema does not have. `scaled` and `labelled`: what another manager writes before the commit, and owns from then on.
 * `recorded` is written to an embedded hub alone. `tolerating`: placements that tolerate a drained cluster for some seconds.
 * `admission`: placements that get a label by which the hub refuses more than two clusters (`bounded`), makes two of them
 * (`capped`), or refuses their deletion (`kept`). `emptied`: what somebody deletes on the hub before the commit, and Git still has.
 * `idlePlan`: when a second pull request is planned that changes a text file: before the merge, or before the hub follows it.
 */
export const beside = fc.record({
  refused: fc.record({
    what: fc.constantFrom(undefined, undefined, 'field', 'null', 'value'),
    placement: fc.constantFrom(...PLACEMENTS),
  }),
  scaled: fc.option(
    fc.record({ placement: fc.constantFrom(...PLACEMENTS), to: fc.integer({ min: 1, max: 5 }) }),
    { nil: undefined, freq: 3 },
  ),
  labelled: fc.option(
    fc.record({ cluster: fc.constantFrom(...CLUSTERS), region: fc.constantFrom('eu', 'us') }),
    { nil: undefined, freq: 3 },
  ),
  recorded: fc.dictionary(fc.constantFrom(...CLUSTERS), recordedState, { maxKeys: 3 }),
  tolerating: fc.dictionary(fc.constantFrom(...PLACEMENTS), fc.constantFrom(true, true, false), {
    maxKeys: 1,
  }),
  idlePlan: fc.constantFrom('none', 'none', 'before', 'after'),
  admission: fc.dictionary(
    fc.constantFrom(...PLACEMENTS),
    fc.constantFrom(undefined, 'bounded', 'capped', 'kept'),
    { maxKeys: 1 },
  ),
  emptied: fc.constantFrom(undefined, undefined, undefined, undefined, 'clusters', 'sets', 'placements'),
});
export type Beside = typeof beside extends fc.Arbitrary<infer T> ? T : never;

export const NOTHING_BESIDE: Beside = {
  refused: { what: undefined, placement: 'web' },
  scaled: undefined,
  labelled: undefined,
  recorded: {},
  tolerating: {},
  idlePlan: 'none',
  admission: {},
  emptied: undefined,
};

export type State = Readonly<
  Pick<Commit, 'clusters' | 'sets' | 'bindings' | 'placements' | 'replicaSets' | 'works'>
> & {
  /** What Git records of clusters. Absent: the hub has agents. */
  readonly recorded?: Beside['recorded'];
  readonly tolerating: Beside['tolerating'];
  readonly admission: Beside['admission'];
};

const all = <T>(names: readonly string[], value: T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, value]));

export const START: State = {
  clusters: all(CLUSTERS, { region: 'eu', tainted: false, set: 'prod' }),
  sets: all(SETS, true),
  bindings: all(SETS, true),
  placements: all(PLACEMENTS, {
    numberOfClusters: 3,
    policy: weights(1, 0, 0),
    region: undefined,
    sets: ['prod'],
    budget: '50%',
    folder: 'apps/placements',
  }),
  replicaSets: {
    front: { placements: ['web'], value: '1' },
    back: { placements: ['api', 'batch'], value: '1' },
  },
  works: { c1: true, c2: true },
  tolerating: {},
  admission: {},
};

export function stateAfter(state: State, change: Commit, { recorded, tolerating, admission }: Beside): State {
  return {
    ...(state.recorded && { recorded: { ...state.recorded, ...recorded } }),
    clusters: { ...state.clusters, ...change.clusters },
    sets: { ...state.sets, ...change.sets },
    bindings: { ...state.bindings, ...change.bindings },
    placements: { ...state.placements, ...change.placements },
    replicaSets: { ...state.replicaSets, ...change.replicaSets },
    works: { ...state.works, ...change.works },
    tolerating: { ...state.tolerating, ...tolerating },
    admission: { ...state.admission, ...admission },
  };
}
