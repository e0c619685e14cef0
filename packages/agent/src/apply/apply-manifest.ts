import { ConflictError } from '@berth/runtime/errors';
import type { PlannedCondition } from '../rules/feedback/observed-status.ts';
import { failureText, isApplyConflict, missingNamespace } from '../rules/applied/kube-failure.ts';
import { applyByServer } from './apply-by-server.ts';
import { applyByCreateOnly, applyByUpdate } from './apply-by-update.ts';
import type { ApplyContext, StrategyResult } from './apply-context.ts';
import type { ApplyOutcome } from '../rules/applied/apply-outcome.ts';
import { IgnoreFieldError } from './ignore-fields.ts';

/**
 * Applies one manifest by its strategy. Errors are returned as outcomes, so that one manifest does
 * not stop the others.
 */
export async function applyManifest(context: ApplyContext): Promise<ApplyOutcome> {
  try {
    const { object, wrote } = await byStrategy(context);
    return { kind: 'applied', object, wrote };
  } catch (error) {
    const ignoreField = error instanceof IgnoreFieldError;
    // Only the other manager can release the fields, so an early retry is useless.
    const lost = isApplyConflict(error);
    return {
      kind: 'failed',
      problem: failureText(error),
      ignoreField,
      retry: lost ? 'never' : 'soon',
      conflict: error instanceof ConflictError && !lost,
      missingNamespace: missingNamespace(error),
    };
  }
}

function byStrategy(context: ApplyContext): Promise<StrategyResult> {
  switch (context.strategy?.type ?? 'Update') {
    case 'Update':
      return applyByUpdate(context);
    case 'CreateOnly':
      return applyByCreateOnly(context);
    case 'ServerSideApply':
      return applyByServer(context);
    case 'ReadOnly':
      return Promise.resolve({ wrote: false });
  }
}

export function appliedCondition(outcome: ApplyOutcome): PlannedCondition {
  if (outcome.kind === 'applied')
    return {
      type: 'Applied',
      status: 'True',
      reason: 'AppliedManifestComplete',
      message: 'Apply manifest complete',
    };
  return outcome.ignoreField
    ? {
        type: 'Applied',
        status: 'False',
        reason: 'AppliedManifestSSAIgnoreFieldError',
        message: `Failed to process ignoreFields: ${outcome.problem}`,
      }
    : {
        type: 'Applied',
        status: 'False',
        reason: 'AppliedManifestFailed',
        message: `Failed to apply manifest: ${outcome.problem}`,
      };
}
