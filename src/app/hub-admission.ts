import { validateWorkSpec } from '@berth/agent/rules/manifests/validate-work';
import {
  manifestWorkCheck,
  type WorksWithoutExecutor,
  type WorkValidator,
} from '@berth/embedded-hub/admission/ocm/manifest-work-check';
import { agentRightsCheck } from '@berth/embedded-hub/admission/ocm/agent-rights-check';
import { ocmChecks } from '@berth/embedded-hub/admission/ocm-checks';
import type { AdmissionCheck } from '@berth/embedded-hub/write/write-request';

export interface HubAdmissionOptions {
  /** The users who may write works without an executor. Default: `restricted`. */
  readonly withoutExecutor?: WorksWithoutExecutor | undefined;
  /** False if OCM's own webhooks check its kinds. What agents may do with works is always checked. */
  readonly ocm?: boolean | undefined;
}

/** All checks of an embedded hub on OCM's kinds: clusters, sets, bindings and works. */
export function hubAdmission({
  withoutExecutor = 'restricted',
  ocm = true,
}: HubAdmissionOptions = {}): readonly AdmissionCheck[] {
  const validate: WorkValidator = (spec) => {
    const problems = validateWorkSpec(spec);
    const texts = (severity: 'error' | 'warning'): readonly string[] =>
      problems.filter((problem) => problem.severity === severity).map((problem) => problem.message);
    return { errors: texts('error'), warnings: texts('warning') };
  };
  if (!ocm) return [agentRightsCheck];
  return [agentRightsCheck, ...ocmChecks, manifestWorkCheck({ validate, withoutExecutor })];
}
