import { writeFileSync } from 'node:fs';
import { CAPABILITIES, type Capability } from './capabilities.ts';

const PAGE = new URL('../../docs/contract.md', import.meta.url);
export { PAGE };

const TEXT = `# The contract of the ports

Everything with an effect goes through a port ([functions/ports.ts](../functions/ports.ts)). Three things stand behind
them: Google's services through the adapters of \`functions/gcp\`, the same adapters with the servers of \`local/\`, and the
ports in memory that the simulator runs on (\`test/fakes\`). One list of properties for each port (\`test/contract\`) is run
on the last two, with calls that are refused, that never arrive and whose answers are lost. What a simulation shows
therefore holds over the wire, except for the differences below: each is declared in \`test/contract/capabilities.ts\`, is
observed by a test on both sides, and fails the suite once it is gone. Nothing was run against Google; that column is
what its documentation says.

`;

/** The page as the table of capabilities wants it. */
export function page(): string {
  const rows = Object.entries<Capability>(CAPABILITIES).map(([id, { about, fake, local, google }]) => {
    const [port] = id.split(':');
    return `| ${port} | ${about} | ${fake} | ${local} | ${google} |`;
  });
  return `${TEXT}${['| Port | What | In memory | Local cloud | Google |', '|---|---|---|---|---|', ...rows].join('\n')}\n`;
}

/** Writes docs/contract.md. */
if (import.meta.main) writeFileSync(PAGE, page());
