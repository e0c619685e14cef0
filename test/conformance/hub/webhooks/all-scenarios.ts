import { CONVERSION_SCENARIOS } from './conversion-scenarios.ts';
import { ADMISSION_SCENARIOS } from './admission-scenarios.ts';
import type { Scenario } from './scenario.ts';

export function allScenarios(): readonly Scenario[] {
  return [...CONVERSION_SCENARIOS, ...ADMISSION_SCENARIOS];
}
