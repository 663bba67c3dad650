# Run in the copy of mailroom once the agent says that it is done.
[ -f workshop/letter-1.txt ] && [ -f shipping/letter-2.txt ] && [ -f accounts/letter-3.txt ] && [ -z "$(ls inbox)" ]
