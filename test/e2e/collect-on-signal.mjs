// Loaded into a process under test: SIGUSR2 makes it collect all garbage and say so on stderr, so that its memory shows what it holds and not
// when V8 last thought it worth while to collect.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  process.stderr.write('collected\n');
});
