import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { appliedWorkName } from '../../../packages/agent/src/work/applied-work.ts';
import { hubHashOf } from '../../../packages/agent/src/start-agent.ts';
import { addonNames } from '@berth/ocm/registration/addon-names';

interface Recorded {
  readonly case:
    | { readonly name: string; readonly hubURL: string; readonly workName: string }
    | {
        readonly name: string;
        readonly addonName: string;
        readonly addonNamespace: string;
        readonly clusterName: string;
        readonly signer: string;
        readonly deployIndex: number;
      };
  readonly expected: Readonly<Record<string, unknown>>;
}

const recorded = gunzipSync(readFileSync(new URL('./names.jsonl.gz', import.meta.url)))
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

/** Every name that follows from a case. The namespace of an add-on is its cluster's: it adds nothing. */
function namesOf(given: Recorded['case']): Readonly<Record<string, unknown>> {
  if ('hubURL' in given) {
    const hubHash = hubHashOf(given.hubURL);
    return { hubHash, appliedManifestWorkName: appliedWorkName({ hubHash }, given.workName) };
  }
  const names = addonNames(given.addonName, given.clusterName);
  return {
    ...names,
    deployWork: names.deployWork(given.deployIndex),
    deployHostingWork: names.deployHostingWork(given.deployIndex),
    customSignedSecret: names.customSignedSecret(given.signer),
  };
}

describe('names that follow from other names', () => {
  it.each(recorded.map((entry) => ({ name: entry.case.name, entry })))('$name', ({ entry }) => {
    expect(namesOf(entry.case)).toMatchObject(entry.expected);
  });

  it('are held to all recorded cases, of both sorts', () => {
    expect(recorded).toHaveLength(35);
    expect(recorded.filter((entry) => 'addonName' in entry.case)).toHaveLength(8);
  });
});
