import { dnsLabel } from '@berth/kube/model/selector/name-rules';
import type { KindRules } from './values/kind-rules.ts';

/** Source: pkg/apis/core/validation (ValidateNamespace). */
export const NAMESPACE_RULES: KindRules = { name: dnsLabel, metadataChecks: 4, validate: () => undefined };

/** Source: pkg/apis/core/validation (ValidateServiceAccount). */
export const SERVICE_ACCOUNT_RULES: KindRules = { metadataChecks: 4, validate: () => undefined };
