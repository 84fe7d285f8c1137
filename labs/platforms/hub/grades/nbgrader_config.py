"""nbgrader settings of the grade-book service, in addition to the course's own file."""

c = get_config()  # noqa: F821
# All servers run as one user, so the owner of a submission says nothing about its student.
c.ExchangeCollect.check_owner = False
