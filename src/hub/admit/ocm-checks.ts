import type { AdmissionCheck } from '../write/write-request.ts';
export const ocmChecks: readonly AdmissionCheck[] = [];
