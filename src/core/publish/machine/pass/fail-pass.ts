import { leavingOf, rememberedUnderWay } from './change-record.ts';
import { endPass } from './end-pass.ts';
import { finishWhenAnswered } from './finish-pass.ts';
import type { PlacementEvent } from '../state/placement-event.ts';
import type { Writing } from '../state/placement-state.ts';
import type { PassingState, Step } from '../state/step-result.ts';

type Failed = Extract<PlacementEvent, { kind: 'failed' }>;

/** An action of the pass failed: the pass ends, and the next one reads the uncertain state again. */
export function passFailed(state: PassingState, failed: Failed, nowMs: number): Step {
  const { error } = failed;
  const { stage } = state.pass;
  if (stage.kind === 'writing') return writeFailed(state, stage.writing, failed, nowMs);
  if (stage.kind !== 'finishing') return endPass(state, { kind: 'failed', error });
  const { finishing } = stage;
  const failure = finishing.failure ?? { error };
  return finishWhenAnswered(
    state,
    failed.of === 'status'
      ? { ...finishing, failure, isPatching: false }
      : { ...finishing, failure, record: { kind: 'none' } },
  );
}

/** It is not known which of the writes succeeded. */
function writeFailed(
  state: PassingState,
  writing: Writing,
  { error, mayArrive }: Failed,
  nowMs: number,
): Step {
  const { pass, suspects } = state;
  const page = writing.actions[writing.at]?.page ?? '';
  const isNew = mayArrive && !suspects.includes(page);
  const unsure = { ...state, isUnsure: true, suspects: isNew ? [...suspects, page] : suspects };
  const end = { kind: 'failed', error } as const;
  const { site, purpose } = writing;
  if (purpose.kind !== 'publish') return endPass(unsure, end);
  const making = { pass, site, purpose, remembered: state.remembered, nowMs };
  const remembered = rememberedUnderWay(making);
  const { uid } = pass.placement.metadata;
  const last = { uid, pages: site.published, leaving: leavingOf(making) };
  return endPass({ ...unsure, remembered, last }, end, [{ kind: 'remember', state: remembered }]);
}
