import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXCEPTIONS } from './ocm-exceptions.ts';
import type { SuiteName } from './peers/ocm-suite.ts';
import { hasOcmModules, runOcmSuite, suiteProgram } from './peers/ocm-suite.ts';
import { hasPeers } from './peers/peer-programs.ts';

const EMBEDDED = join(import.meta.dirname, '../../examples/envtest');
/** Fewer mean that the suite did not run completely. */
const SPECS: Readonly<Record<SuiteName, number>> = { placement: 30, work: 82, registration: 45, addon: 13 };

/** BERTH_OCM_SUITES names some of them, with spaces between them. */
const asked = process.env['BERTH_OCM_SUITES']?.split(' ') ?? Object.keys(SPECS);

/** One after the other: they serve webhooks on the same port. */
describe.each((Object.entries(SPECS) as [SuiteName, number][]).filter(([name]) => asked.includes(name)))(
  'OCM’s suite %s',
  (name, specs) => {
    it.skipIf(!hasPeers(suiteProgram(name)) || !hasOcmModules())('passes on the embedded hub', async () => {
      const results = await runOcmSuite(name, EMBEDDED);
      const failed = results.filter(({ passed }) => !passed);
      const excepted = EXCEPTIONS[name];
      const unexpected = failed.filter((result) => !Object.hasOwn(excepted, result.name));
      expect(unexpected).toEqual([]);
      // One that passes now is struck off the list.
      const names = failed.map((result) => result.name);
      const stale = Object.entries(excepted).filter(
        ([spec, { sometimesPasses }]) => sometimesPasses !== true && !names.includes(spec),
      );
      expect(stale).toEqual([]);
      expect(results.length).toBeGreaterThanOrEqual(specs);
    });
  },
);
