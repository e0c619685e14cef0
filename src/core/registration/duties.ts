/** The controllers of registration on the hub. Each can be left to OCM's registration controller, which has all of them. */
export const DUTIES = ['acceptance', 'approval', 'health', 'taints', 'sets', 'cleanup'] as const;

export type RegistrationDuty = (typeof DUTIES)[number];
