/**
 * The registration controllers of the hub. OCM's registration controller has all of them, and can run each instead of
 * Berth.
 */
export const DUTIES = ['acceptance', 'approval', 'health', 'taints', 'sets', 'cleanup'] as const;

export type RegistrationDuty = (typeof DUTIES)[number];
