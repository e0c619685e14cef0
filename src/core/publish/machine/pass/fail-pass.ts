import { hasGroup } from '../../pages/decision-page.ts';
import { leavingClusters, stateUnderWay } from './publication-in-progress.ts';
import { endPass } from './end-pass.ts';
import { endPassIfComplete } from './finish-pass.ts';
import type { PlacementEvent } from '../state/placement-event.ts';
import type { WritingStage } from '../state/placement-state.ts';
import type { PassingState, StepResult } from '../state/step-result.ts';

type Failed = Extract<PlacementEvent, { kind: 'failed' }>;

/**
 * An action of the pass failed. The pass ends, and the next pass reads the uncertain state from the
 * hub.
 */
export function onPassFailed(state: PassingState, failed: Failed, nowMs: number): StepResult {
  const { error } = failed;
  const { stage } = state.pass;
  if (stage.kind === 'writing') return writeFailed(state, stage.writing, failed, nowMs);
  if (stage.kind !== 'finishing') return endPass(state, { kind: 'failed', error });
  const { finishing } = stage;
  const failure = finishing.failure ?? { error };
  return endPassIfComplete(
    state,
    failed.of === 'status'
      ? { ...finishing, failure, isPatching: false }
      : { ...finishing, failure, record: { kind: 'none' } },
  );
}

/** A page write failed. Berth does not know whether the hub executed it. */
function writeFailed(
  state: PassingState,
  writing: WritingStage,
  { error, mayArrive }: Failed,
  nowMs: number,
): StepResult {
  const { pass, suspects } = state;
  const page = writing.actions[writing.at]?.page ?? '';
  const isNew = mayArrive && !suspects.includes(page);
  const unsure = { ...state, isUncertain: true, suspects: isNew ? [...suspects, page] : suspects };
  const end = { kind: 'failed', error } as const;
  const { passPages, purpose } = writing;
  const { uid } = pass.placement.metadata;
  if (purpose.kind !== 'publish') {
    const isFound = passPages.last === undefined && passPages.pages.every(hasGroup);
    // What the pages listed counts as published, although a cluster is still on two of them.
    const found = { uid, pages: purpose.pages, leaving: undefined };
    return endPass(isFound ? { ...unsure, last: found } : unsure, end);
  }
  const making = { pass, passPages, purpose, remembered: state.remembered, nowMs };
  const remembered = stateUnderWay(making);
  const last = { uid, pages: passPages.published, leaving: leavingClusters(making) };
  return endPass({ ...unsure, remembered, last }, end, [{ kind: 'remember', state: remembered }]);
}
