import type { KubeObject } from '@berth/kube/model/object-meta';
import { planEntries } from '../publish/approval/approved-plans.ts';
import { PLAN_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { fieldError, type FieldFinding } from './source-finding.ts';

/** Checks approvals. An invalid one would approve every change, without an error elsewhere. */
export function checkApprovedPlans(object: KubeObject): readonly FieldFinding[] {
  const bare = object.kind === 'Placement';
  return planEntries(object)
    .filter(({ token, placement }) => token === undefined || (placement === undefined && !bare))
    .map(({ text }) =>
      fieldError(
        'plan.approval',
        ['metadata', 'annotations', PLAN_ANNOTATION],
        `got ${JSON.stringify(text)}, expected NAMESPACE/NAME=TOKEN${bare ? ', or TOKEN' : ''} as berth plan prints it`,
      ),
    );
}
